import { describe, expect, it } from 'vitest';
import { parseWildcardName } from '../net/domain-name.ts';
import { dnsNameResolverName, parseDnsNameResolver } from './dns-name-resolver.ts';

const WILDCARD = parseWildcardName('*.example.com');
const AT = '2026-11-30T16:00:00Z';
const address = (ip: string, more: object = {}) => ({ ip, ttlSeconds: 30, lastLookupTime: AT, ...more });
const entry = (dnsName: string, ...resolvedAddresses: unknown[]) => ({ dnsName, resolvedAddresses });
const parse = (...resolvedNames: unknown[]) =>
  parseDnsNameResolver({ metadata: {}, spec: { name: WILDCARD }, status: { resolvedNames } });

describe('a DNSNameResolver', () => {
  it('has the addresses of all names that its wildcard covers', () => {
    expect(
      parse(entry('www.example.com.', address('192.0.2.1')), entry('*.example.com.', address('2001:db8::1'))),
    ).toEqual({
      ...{ wildcard: WILDCARD, names: 2, findings: [] },
      addresses: ['192.0.2.1', '2001:db8::1'].map((ip) => ({ ip, ttlSeconds: 30, answered: Date.parse(AT) })),
    });
  });

  it('is read as the client library of the plugin has written it to a kube-apiserver', () => {
    const condition = { type: 'Degraded', status: 'False', reason: 'NOERROR', message: 'No Error' };
    const at = '2026-11-30T16:23:02Z';
    const recorded = {
      metadata: { name: 'dns-0af4f11cbbe2cff478d6', namespace: 'ovn-udn', labels: { 'k8s.ovn.org/wildcard': '' } },
      spec: { name: '*.example.com.' },
      status: {
        resolvedNames: [
          {
            conditions: [{ ...condition, lastTransitionTime: at }],
            dnsName: 'www.example.com.',
            resolvedAddresses: [
              { ip: '192.0.2.1', ttlSeconds: 30, lastLookupTime: at },
              { ip: '2001:db8::1', ttlSeconds: 60, lastLookupTime: at },
            ],
          },
        ],
      },
    };
    expect(dnsNameResolverName(WILDCARD)).toBe(recorded.metadata.name);
    expect(parseDnsNameResolver(recorded)).toMatchObject({
      ...{ names: 1, findings: [] },
      addresses: ['192.0.2.1', '2001:db8::1'].map((ip) => ({ ip, answered: Date.parse(at) })),
    });
  });

  it('has the addresses of a name whose last questions have failed: the plugin keeps them for a while', () => {
    const conditions = [{ type: 'Degraded', status: 'True', reason: 'NXDOMAIN', message: 'Non-Existent Domain' }];
    const degraded = { ...entry('old.example.com.', address('192.0.2.2')), conditions, resolutionFailures: 2 };
    expect(parse(degraded)).toMatchObject({ names: 1, addresses: [{ ip: '192.0.2.2' }], findings: [] });
  });

  it.each([undefined, null, {}, { resolvedNames: null }])('has none with the status %j', (status) =>
    expect(parseDnsNameResolver({ spec: { name: WILDCARD }, status })).toMatchObject({ names: 0, addresses: [] }),
  );

  it('counts nothing of names that are not of it, and nothing that it cannot read, and says so', () => {
    const { addresses, findings } = parse(
      entry('www.example.org.', address('192.0.2.1')),
      entry('a.b.example.com.', address('192.0.2.2')),
      entry('example.com.', address('192.0.2.3')),
      { dnsName: 'www.example.com.' },
      entry('www.example.com.', address('192.0.2.4'), address('x'), address('192.0.2.5', { lastLookupTime: null })),
      entry('ftp.example.com.', address('192.0.2.6', { ttlSeconds: -1 }), 7),
    );
    expect(addresses.map(({ ip }) => ip)).toEqual(['192.0.2.4']);
    expect(findings).toEqual([
      'status.resolvedNames[0].dnsName: "www.example.org." is not a name that *.example.com. covers',
      'status.resolvedNames[1].dnsName: "a.b.example.com." is not a name that *.example.com. covers',
      'status.resolvedNames[2].dnsName: "example.com." is not a name that *.example.com. covers',
      'status.resolvedNames[3]: resolvedAddresses: is required',
      'status.resolvedNames[4].resolvedAddresses[1]: ip: "x" is not an IP address',
      'and 3 more',
    ]);
  });

  it('is read up to a number of names and addresses, the last of them', () => {
    const many = Array.from({ length: 2_001 }, (_, at) => entry(`n${at}.example.com.`, address('192.0.2.1')));
    expect(parse(...many)).toMatchObject({ names: 2_000, findings: ['of 2001 names the first 1 are left out'] });
    const wide = Array.from({ length: 8_001 }, () => address('192.0.2.1'));
    expect(parse(entry('www.example.com.', ...wide))).toMatchObject({
      findings: ['of 8001 addresses the first 1 are left out'],
    });
  });

  it.each(['www.example.com.', '*.Example.com.', '*.example.com', '*.com.', ''])('is none with the name %j', (name) =>
    expect(() => parseDnsNameResolver({ spec: { name } })).toThrow(/^spec\.name: /),
  );

  it('has a name of its own by its wildcard', () => {
    expect(dnsNameResolverName(WILDCARD)).toMatch(/^dns-[0-9a-f]{20}$/);
    expect(dnsNameResolverName(parseWildcardName('*.example.org'))).not.toBe(dnsNameResolverName(WILDCARD));
  });
});
