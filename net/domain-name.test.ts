import { describe, expect, it } from 'vitest';
import { parseDomainName } from './domain-name.ts';

describe('a domain name', () => {
  it.each([
    ['www.example.com', 'www.example.com.'],
    ['WWW.Example.COM.', 'www.example.com.'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example.'],
    ['_ldap.a-b.example', '_ldap.a-b.example.'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example.`],
  ])('%s is read', (text, name) => expect(parseDomainName(text)).toBe(name));

  it.each([
    ['', 'is not a domain name'],
    ['.', 'is not a domain name'],
    ['a..b', 'is not a domain name'],
    ['.example.com', 'is not a domain name'],
    ['-a.example', 'is not a domain name'],
    ['a-.example', 'is not a domain name'],
    ['a b.example', 'is not a domain name'],
    ['a\n.example', 'is not a domain name'],
    ['example.com\n', 'is not a domain name'],
    ['example.com..', 'is not a domain name'],
    [`${'a'.repeat(64)}.example`, 'is not a domain name'],
    [`${'a.'.repeat(127)}example`, 'is longer than 253 characters'],
    ['localhost', 'is not a fully qualified domain name'],
    ['192.0.2.1', 'is not a fully qualified domain name'],
    ['2001:db8::1', 'is not a domain name'],
    ['*.example.com', 'is a wildcard'],
    ['www.*.com', 'is a wildcard'],
    ['bücher.example', 'write it in punycode'],
  ])('%j is refused', (text, message) => expect(() => parseDomainName(text)).toThrow(message));
});
