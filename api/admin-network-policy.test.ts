import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAdminPolicy } from './admin-network-policy.ts';
import type { AdminPolicyKind } from './admin-policy/types.ts';
import { wildcardsOf } from './policy-names.ts';

const ALL = { matchLabels: {}, matchExpressions: [] };
const SUBJECT = { namespaces: { matchLabels: { team: 'a' } } };

describe('parseAdminPolicy', () => {
  it('reads an AdminNetworkPolicy', () => {
    expect(
      parse('AdminNetworkPolicy', {
        priority: 7,
        subject: { pods: { namespaceSelector: {}, podSelector: { matchLabels: { app: 'web' } } } },
        ingress: [
          {
            name: 'monitoring',
            action: 'Allow',
            from: [{ namespaces: { matchLabels: { team: 'ops' } } }],
            ports: [
              { portNumber: { port: 80 } },
              { portRange: { protocol: 'UDP', start: 5, end: 9 } },
              { namedPort: 'metrics' },
            ],
          },
        ],
        egress: [{ action: 'Pass', to: [{ nodes: {} }, { networks: ['10.1.2.3/8', 'fd00::/8'] }] }],
      }),
    ).toEqual({
      kind: 'AdminNetworkPolicy',
      name: 'p',
      uid: 'u',
      tier: 'admin',
      priority: 7,
      subject: { namespaces: ALL, pods: { ...ALL, matchLabels: { app: 'web' } } },
      ingress: [
        {
          name: 'monitoring',
          action: 'allow',
          peers: [{ kind: 'pods', namespaces: { ...ALL, matchLabels: { team: 'ops' } }, pods: {} }],
          ports: [
            { kind: 'number', protocol: 'tcp', port: 80 },
            { kind: 'number', protocol: 'udp', port: [5, 9] },
            { kind: 'name', name: 'metrics' },
          ],
        },
      ],
      egress: [
        {
          action: 'pass',
          peers: [
            { kind: 'nodes', nodes: ALL },
            { kind: 'networks', blocks: ['10.0.0.0/8', 'fd00::/8'] },
          ],
          ports: [],
        },
      ],
      findings: [],
    });
  });

  it('reads a ClusterNetworkPolicy', () => {
    const policy = parse('ClusterNetworkPolicy', {
      tier: 'Baseline',
      priority: 1000,
      subject: SUBJECT,
      egress: [
        {
          action: 'Accept',
          to: [{ namespaces: {} }],
          protocols: [
            { tcp: { destinationPort: { number: 80 } } },
            { sctp: { destinationPort: { range: { start: 1, end: 2 } } } },
            { destinationNamedPort: 'dns' },
          ],
        },
      ],
    });
    expect(policy).toMatchObject({ tier: 'baseline', priority: 1000, ingress: [], findings: [] });
    expect(policy.egress).toEqual([
      {
        action: 'allow',
        peers: [{ kind: 'pods', namespaces: ALL, pods: {} }],
        ports: [
          { kind: 'number', protocol: 'tcp', port: 80 },
          { kind: 'number', protocol: 'sctp', port: [1, 2] },
          { kind: 'name', name: 'dns' },
        ],
      },
    ]);
  });

  it('takes a baseline policy of v1alpha1 after all that have a priority', () => {
    const policy = parseAdminPolicy('BaselineAdminNetworkPolicy', object({ subject: SUBJECT }, 'default'));
    expect(policy).toMatchObject({ tier: 'baseline', priority: 1001 });
    expect(() => parse('BaselineAdminNetworkPolicy', { subject: SUBJECT })).toThrow(
      'metadata.name: must be "default": a cluster has one BaselineAdminNetworkPolicy',
    );
  });

  it.each([
    { what: 'no subject', spec: { priority: 1 }, message: 'spec.subject: is required' },
    {
      what: 'an empty subject',
      spec: { priority: 1, subject: {} },
      message: 'spec.subject: must have exactly one of namespaces, pods',
    },
    {
      what: 'a subject with an unknown field',
      spec: { priority: 1, subject: { namespaces: { sameLabels: ['tenant'] } } },
      message: 'sameLabels',
    },
    { what: 'no priority', spec: { subject: SUBJECT }, message: 'spec.priority: is required' },
    {
      what: 'a priority out of bounds',
      spec: { priority: 1001, subject: SUBJECT },
      message: 'spec.priority: must be at most 1000, is 1001',
    },
    {
      what: 'too many rules',
      spec: { priority: 1, subject: SUBJECT, ingress: Array(101).fill({}) },
      message: 'spec.ingress: must have at most 100 items, has 101',
    },
  ])('refuses a policy with $what', ({ spec, message }) => {
    expect(() => parse('AdminNetworkPolicy', spec)).toThrow(message);
  });

  it.each([
    { what: 'a peer without a field that is known', rule: { to: [{ moons: {} }] } },
    { what: 'an unknown field of a selector', rule: { to: [{ namespaces: { sameLabels: ['tenant'] } }] } },
    { what: 'an unknown field beside a known one', rule: { to: [{ namespaces: {}, moons: {} }] } },
    {
      what: 'an unknown field of pods',
      rule: { to: [{ pods: { namespaceSelector: {}, podSelector: {}, sameLabels: ['tenant'] } }] },
    },
    {
      what: 'an unknown field of a requirement',
      rule: { to: [{ nodes: { matchExpressions: [{ key: 'a', operator: 'Exists', unless: 'b' }] } }] },
    },
    {
      what: 'a label key that would get lost',
      rule: { to: [{ nodes: JSON.parse('{"matchLabels":{"__proto__":"a"}}') }] },
    },
    { what: 'an unknown field', rule: { to: [{ namespaces: {} }], unless: [] } },
    {
      what: 'an unknown field of a port',
      rule: { to: [{ namespaces: {} }], ports: [{ portNumber: { port: 1, unless: 2 } }] },
    },
    { what: 'a peer of two kinds', rule: { to: [{ namespaces: {}, nodes: {} }] } },
    { what: 'no peers', rule: { to: [] } },
    {
      what: 'an operator that does not exist',
      rule: { to: [{ nodes: { matchExpressions: [{ key: 'a', operator: '<' }] } }] },
    },
    { what: 'a block that is none', rule: { to: [{ networks: ['10.0.0.0/33'] }] } },
    { what: 'a port out of bounds', rule: { to: [{ namespaces: {} }], ports: [{ portNumber: { port: 0 } }] } },
    {
      what: 'a range that ends before its start',
      rule: { to: [{ nodes: {} }], ports: [{ portRange: { start: 2, end: 1 } }] },
    },
    { what: 'a named port of nodes', rule: { to: [{ nodes: {} }], ports: [{ namedPort: 'a' }] } },
  ])('closes a rule with $what, and no other', ({ rule }) => {
    const good = { action: 'Pass', to: [{ namespaces: {} }] };
    const { egress, findings } = parse('AdminNetworkPolicy', {
      priority: 1,
      subject: SUBJECT,
      egress: [{ action: 'Allow', ...rule }, good, { action: 'Deny', ...rule }, { action: 'Pass', ...rule }],
    });
    const everything = { action: 'deny', peers: [{ kind: 'any' }], ports: [] };
    expect(egress).toEqual([
      { action: 'allow', peers: [], ports: [] },
      { action: 'pass', peers: [{ kind: 'pods', namespaces: ALL, pods: {} }], ports: [] },
      everything,
      everything,
    ]);
    expect(findings).toEqual([
      expect.stringMatching(/^spec\.egress\[0\]: .+; the rule allows nothing$/),
      expect.stringMatching(/^spec\.egress\[2\]: .+; the rule denies everything$/),
      expect.stringMatching(/^spec\.egress\[3\]: .+; the rule denies everything$/),
    ]);
  });

  it('allows by the domain names that can be resolved, and the rest of the rule', () => {
    const to = [{ domainNames: ['*.example.com', 'WWW.example.com', 'bücher.example'] }, { networks: ['10.0.0.0/8'] }];
    const { egress, findings } = parse('AdminNetworkPolicy', {
      priority: 1,
      subject: SUBJECT,
      egress: [
        { action: 'Allow', to },
        { action: 'Deny', to },
        { action: 'Allow', to: [{ domainNames: ['*.example.com'] }] },
      ],
    });
    expect(egress).toEqual([
      {
        action: 'allow',
        peers: [
          { kind: 'domains', names: ['www.example.com.'] },
          { kind: 'networks', blocks: ['10.0.0.0/8'] },
        ],
        ports: [],
      },
      { action: 'deny', peers: [{ kind: 'any' }], ports: [] },
      { action: 'allow', peers: [], ports: [] },
    ]);
    const wildcard =
      '"*.example.com" is a wildcard, and no server can be asked which names it stands for: name each of them, or follow DNSNameResolvers by --dns-name-resolver';
    expect(findings).toEqual([
      `spec.egress[0]: ${wildcard}, and 1 more; the rule does not allow what it names so`,
      'spec.egress[1]: domainNames are only for rules that allow; the rule denies everything',
      `spec.egress[2]: ${wildcard}; the rule does not allow what it names so`,
    ]);
  });

  it('allows by wildcards where they are followed', () => {
    const spec = {
      ...{ priority: 1, subject: SUBJECT },
      egress: [{ action: 'Allow', to: [{ domainNames: ['*.Example.com', 'www.example.org', '*.com'] }] }],
    };
    const policy = parseAdminPolicy(
      'AdminNetworkPolicy',
      { metadata: { name: 'n' }, spec },
      { followsWildcards: true },
    );
    expect(policy.egress[0]?.peers).toEqual([{ kind: 'domains', names: ['*.example.com.', 'www.example.org.'] }]);
    expect(policy.findings).toEqual([expect.stringContaining('"com" is not a fully qualified domain name')]);
    expect(wildcardsOf(policy)).toEqual(['*.example.com.']);
  });

  it('closes the rules with too many domain names', () => {
    const domainNames = Array.from({ length: 25 }, (_, index) => `n${index}.example.com`);
    const rule = { action: 'Accept', to: Array(6).fill({ domainNames }) };
    const { egress, findings } = parse('ClusterNetworkPolicy', {
      ...{ tier: 'Admin', priority: 1, subject: SUBJECT, egress: [rule, rule] },
    });
    expect(egress.map(({ peers }) => peers.length)).toEqual([6, 0]);
    expect(findings).toEqual([
      'spec.egress[1]: with it the policy has more than 256 domain names; the rule allows nothing',
    ]);
  });

  it('closes the rules that are too much', () => {
    const rule = {
      action: 'Allow',
      from: Array(100).fill({ namespaces: {} }),
      ports: Array(30).fill({ portNumber: { port: 1 } }),
    };
    const { ingress, findings } = parse('AdminNetworkPolicy', { priority: 1, subject: SUBJECT, ingress: [rule, rule] });
    expect(ingress.map(({ peers }) => peers.length)).toEqual([100, 0]);
    expect(findings).toEqual([
      'spec.ingress[1]: with it the policy has more than 4096 pairs of peers and ports; the rule allows nothing',
    ]);
  });

  it('closes every rule that is no rule', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 5 }), (ingress) => {
        const { ingress: rules, findings } = parse('ClusterNetworkPolicy', {
          tier: 'Admin',
          priority: 1,
          subject: SUBJECT,
          ingress,
        });
        expect(rules).toHaveLength(ingress.length);
        expect(findings).toHaveLength(ingress.length);
        for (const { action } of rules) expect(action).toBe('deny');
      }),
    );
  });
});

const object = (spec: unknown, name = 'p'): unknown => ({ metadata: { name, uid: 'u' }, spec });
const parse = (kind: AdminPolicyKind, spec: unknown) => parseAdminPolicy(kind, object(spec));
