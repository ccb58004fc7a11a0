import { describe, expect, it } from 'vitest';
import { parseDomainName, parseWildcardName, wildcardCovers } from './domain-name.ts';

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

describe('a wildcard of names', () => {
  it.each([
    ['*.example.com', '*.example.com.'],
    ['*.Example.COM.', '*.example.com.'],
    ['*.a.b.example', '*.a.b.example.'],
  ])('%s is read', (text, name) => expect(parseWildcardName(text)).toBe(name));

  it.each([
    ['www.example.com', 'is not a wildcard'],
    ['www.*.com', 'is not a wildcard'],
    ['w*.example.com', 'is not a wildcard'],
    ['*.*.example.com', 'is not a wildcard'],
    ['*', 'is not a wildcard'],
    ['*.com', 'is not a fully qualified domain name'],
    ['*.', 'is not a domain name'],
    ['*..example.com', 'is not a domain name'],
    ['*.192.0.2.1', 'is not a fully qualified domain name'],
    ['*.a_b.example', 'has an underscore'],
    [`*.${'a.'.repeat(122)}example`, 'is longer than 253 characters'],
  ])('%j is refused', (text, message) => expect(() => parseWildcardName(text)).toThrow(message));

  it('covers names with one label in place of the star, and itself', () => {
    const covered = ['www.example.com', 'a.b.example.com', 'example.com', 'www.example.org', 'wwwexample.com'].filter(
      (text) => wildcardCovers(parseWildcardName('*.example.com'), parseDomainName(text)),
    );
    expect(covered).toEqual(['www.example.com']);
    expect(wildcardCovers(parseWildcardName('*.example.com'), parseWildcardName('*.example.com'))).toBe(true);
  });
});
