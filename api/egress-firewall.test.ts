import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_FIREWALL_MATCHES,
  MAX_FIREWALL_NAMES,
  MAX_FIREWALL_NODE_RULES,
  MAX_FIREWALL_RULES,
  parseEgressFirewall,
} from './egress-firewall.ts';
import { wildcardsOf } from './policy-names.ts';

const parse = (spec: unknown, name = 'default') =>
  parseEgressFirewall({ metadata: { namespace: 'red', name, uid: 'u' }, spec });
const CLOSED = [{ action: 'deny', peers: [{ kind: 'any' }], ports: [] }];

it('is read in the order of its rules', () => {
  const spec = {
    egress: [
      { type: 'Allow', to: { cidrSelector: '1.2.3.4/23' }, ports: [{ protocol: 'UDP', port: 53 }] },
      { type: 'Allow', to: { nodeSelector: { matchLabels: { role: 'db' } } } },
      { type: 'Deny', to: { nodeSelector: {} } },
      { type: 'Deny', to: { cidrSelector: '::/0' } },
    ],
  };
  expect(parse(spec)).toEqual({
    ...{
      generation: 0,
      kind: 'EgressFirewall',
      name: 'red/default',
      namespace: 'red',
      uid: 'u',
      tier: 'firewall',
      priority: 0,
    },
    ...{ subject: { pods: {} }, ingress: [], findings: [] },
    egress: [
      {
        action: 'allow',
        peers: [{ kind: 'networks', blocks: ['1.2.2.0/23'] }],
        ports: [{ kind: 'number', protocol: 'udp', port: 53 }],
      },
      {
        action: 'allow',
        peers: [{ kind: 'nodes', nodes: { matchLabels: { role: 'db' }, matchExpressions: [] } }],
        ports: [],
      },
      { action: 'deny', peers: [{ kind: 'nodes', nodes: { matchLabels: {}, matchExpressions: [] } }], ports: [] },
      { action: 'deny', peers: [{ kind: 'networks', blocks: ['::/0'] }], ports: [] },
    ],
  });
});

describe('what cannot be read', () => {
  const allow = { type: 'Allow', to: { cidrSelector: '0.0.0.0/0' } };
  it.each([
    ['no spec', undefined, 'spec: is required'],
    ['no rules', {}, 'spec.egress: is required'],
    ['another type', { egress: [{ ...allow, type: 'Permit' }] }, 'spec.egress[0].type: must be "Allow" or "Deny"'],
    ['no CIDR', { egress: [{ ...allow, to: { cidrSelector: '1.2.3.4' } }] }, 'spec.egress[0].to.cidrSelector: '],
    ['nobody', { egress: [{ ...allow, to: {} }] }, 'must have exactly one of cidrSelector, dnsName, nodeSelector'],
    [
      'two of them',
      { egress: [{ ...allow, to: { cidrSelector: '0.0.0.0/0', nodeSelector: {} } }] },
      'must have exactly one of',
    ],
    ['an unknown field', { egress: [{ ...allow, except: [] }] }, 'spec.egress[0]: unknown field "except"'],
    ['a port without a number', { egress: [{ ...allow, ports: [{ protocol: 'TCP' }] }] }, 'ports[0].port: is required'],
    ['a selector that nobody understands', { egress: [{ ...allow, to: { nodeSelector: { a: 1 } } }] }, 'unknown field'],
    ['too many rules', { egress: new Array(MAX_FIREWALL_RULES + 1).fill(allow) }, 'must have at most 8000 items'],
    [
      'too many names',
      {
        egress: Array.from({ length: MAX_FIREWALL_NAMES + 1 }, (_, index) => ({
          ...{ type: 'Allow', to: { dnsName: `n${index}.example.com` } },
        })),
      },
      'has 257 domain names, more than 256',
    ],
    [
      'too many rules about nodes',
      {
        egress: Array.from({ length: MAX_FIREWALL_NODE_RULES + 1 }, () => ({
          type: 'Allow',
          to: { nodeSelector: {} },
        })),
      },
      'has 65 rules with nodeSelector, more than 64',
    ],
    [
      'too many ports in all',
      {
        egress: new Array(MAX_FIREWALL_MATCHES / 256 + 1).fill({
          ...allow,
          ports: Array.from({ length: 256 }, (_, index) => ({ protocol: 'TCP', port: index + 1 })),
        }),
      },
      'rules and ports, more than',
    ],
  ])('denies all: %s', (_, spec, finding) => {
    const { egress, findings } = parse(spec);
    expect(egress).toEqual(CLOSED);
    expect(findings).toEqual([expect.stringContaining(finding)]);
    expect(findings[0]).toMatch(/; all that leaves the cluster is denied$/);
  });

  it('is never an open firewall, whatever it is', () => {
    fc.assert(
      fc.property(fc.anything(), (spec) => {
        const { egress, findings } = parse(spec);
        const isEmpty = JSON.stringify(spec) === '{"egress":[]}';
        expect(isEmpty || findings.length > 0).toBe(true);
        expect(egress).toEqual(isEmpty ? [] : CLOSED);
      }),
    );
  });

  it('is an error where no namespace has it', () => {
    expect(() => parse({ egress: [] }, 'second')).toThrow('metadata.name: must be "default"');
  });
});

it('has names that can be resolved; by others it allows nothing, and denies all', () => {
  const { egress, findings } = parse({
    egress: [
      { type: 'Allow', to: { dnsName: 'Example.com' } },
      { type: 'Deny', to: { dnsName: 'www.example.com.' } },
      { type: 'Allow', to: { dnsName: '*.example.com' } },
      { type: 'Deny', to: { dnsName: '*.example.com.' } },
    ],
  });
  expect(egress).toEqual([
    { action: 'allow', peers: [{ kind: 'domains', names: ['example.com.'] }], ports: [] },
    { action: 'deny', peers: [{ kind: 'domains', names: ['www.example.com.'] }], ports: [] },
    { action: 'allow', peers: [], ports: [] },
    ...CLOSED,
  ]);
  const wildcard =
    'is a wildcard, and no server can be asked which names it stands for: name each of them, or follow DNSNameResolvers by --dns-name-resolver';
  expect(findings).toEqual([
    `spec.egress[2].to.dnsName: "*.example.com" ${wildcard}; the rule allows nothing`,
    `spec.egress[3].to.dnsName: "*.example.com." ${wildcard}; the rule denies everything`,
  ]);
});

it('follows wildcards where it may: by one that allows, and not by one that denies', () => {
  const egress = ['Allow', 'Deny'].map((type) => ({ type, to: { dnsName: '*.Example.com' } }));
  const object = { metadata: { namespace: 'red', name: 'default', uid: 'u' } };
  const read = (to: readonly object[]) =>
    parseEgressFirewall({ ...object, spec: { egress: to } }, { followsWildcards: true });
  expect(read(egress)).toMatchObject({
    egress: [{ action: 'allow', peers: [{ kind: 'domains', names: ['*.example.com.'] }] }, ...CLOSED],
    findings: [
      'spec.egress[1].to.dnsName: "*.Example.com" is a wildcard, whose addresses are never all known: deny by names, or allow what may be reached; the rule denies everything',
    ],
  });
  expect(wildcardsOf(read(egress))).toEqual(['*.example.com.']);
  expect(read([{ type: 'Allow', to: { dnsName: '*.com' } }]).findings).toEqual([
    'spec.egress[0].to.dnsName: "com" is not a fully qualified domain name; the rule allows nothing',
  ]);
});
