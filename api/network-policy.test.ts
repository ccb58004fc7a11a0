import { describe, expect, it } from 'vitest';
import { parseNetworkPolicy, readPolicyReach } from './network-policy.ts';

const parse = (spec: unknown, annotations?: Record<string, string>) =>
  parseNetworkPolicy({ metadata: { namespace: 'red', name: 'p', uid: 'u', annotations }, spec });
const ingress = (rule: unknown) => parse({ podSelector: {}, ingress: [rule] }).ingress[0];

describe('parseNetworkPolicy', () => {
  it('fills in what Kubernetes leaves out', () => {
    expect(parse({ podSelector: { matchLabels: { app: 'a' } } })).toEqual({
      ...{ namespace: 'red', name: 'p', uid: 'u', stateless: false, types: ['Ingress'], ingress: [], egress: [] },
      podSelector: { matchLabels: { app: 'a' }, matchExpressions: [] },
    });
  });

  it.each([
    [{}, ['Ingress']],
    [{ egress: [] }, ['Ingress']],
    [{ egress: [{}] }, ['Ingress', 'Egress']],
    [{ policyTypes: [], egress: [{}] }, ['Ingress', 'Egress']],
    [{ policyTypes: ['Egress'], ingress: [{}] }, ['Egress']],
    [{ policyTypes: ['Egress', 'Ingress'] }, ['Ingress', 'Egress']],
  ])('types of %j are %j', (spec, types) => expect(parse(spec).types).toEqual(types));

  it('tells an empty selector from none', () => {
    const none = { matchLabels: {}, matchExpressions: [] };
    expect(ingress({ from: [{ podSelector: {} }] })?.peers).toEqual([{ kind: 'pods', pods: none }]);
    expect(ingress({ from: [{ namespaceSelector: {} }] })?.peers).toEqual([
      { kind: 'pods', namespaces: none, pods: {} },
    ]);
    expect(ingress({ from: [] })).toEqual({ peers: [], ports: [] });
    expect(ingress({})).toEqual({ peers: [], ports: [] });
  });

  it('drops host bits, and reads ports', () => {
    const rule = ingress({
      from: [{ ipBlock: { cidr: '10.0.0.7/24', except: ['10.0.0.9/28'] } }],
      ports: [{}, { protocol: 'SCTP', port: 'http' }, { port: 80, endPort: 90 }],
    });
    expect(rule).toEqual({
      peers: [{ kind: 'block', cidr: '10.0.0.0/24', except: ['10.0.0.0/28'] }],
      ports: [{ protocol: 'tcp' }, { protocol: 'sctp', port: 'http' }, { protocol: 'tcp', port: 80, endPort: 90 }],
    });
  });

  it('knows who wants no connection tracking', () => {
    expect(parse({}, { 'k8s.ovn.org/acl-stateless': 'true' }).stateless).toBe(true);
    expect(parse({}, { 'k8s.ovn.org/acl-stateless': 'yes' }).stateless).toBe(false);
  });

  it.each<[string, unknown]>([
    ['from[0]: must have a selector or ipBlock', { from: [{}] }],
    [
      'from[0]: must not have selectors beside ipBlock',
      { from: [{ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }] },
    ],
    ['from[0]: unknown field "podSelektor"', { from: [{ podSelektor: {}, namespaceSelector: {} }] }],
    ['from[0].podSelector: unknown field "matchLabel"', { from: [{ podSelector: { matchLabel: { app: 'a' } } }] }],
    ['"__proto__" is not a label key', { from: [{ podSelector: { matchLabels: JSON.parse('{"__proto__":"x"}') } }] }],
    ['from[0].podSelector.matchLabels.app: must be a string', { from: [{ podSelector: { matchLabels: { app: 1 } } }] }],
    [
      'must be specified when operator is In',
      { from: [{ podSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }] },
    ],
    ['"Near" is not In', { from: [{ podSelector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } }] }],
    [
      'except[0]: 11.0.0.0/8 is not a part of 10.0.0.0/8',
      { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/8'] } }] },
    ],
    [
      'except[0]: 10.0.0.0/8 is not a part of 10.0.0.0/8',
      { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/8'] } }] },
    ],
    ['except[0]: ::/0 is not a part of 10.0.0.0/8', { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['::/0'] } }] }],
    ['is not a CIDR', { from: [{ ipBlock: { cidr: '10.0.0.0' } }] }],
    ['ports[0].port: must be a number from 1 to 65535', { ports: [{ port: 0 }] }],
    ['ports[0].port: must be a number from 1 to 65535', { ports: [{ port: '80' }] }],
    ['ports[0].port: must be a number from 1 to 65535', { ports: [{ port: 'two--dashes' }] }],
    ['ports[0].protocol: must be "TCP" or "UDP" or "SCTP", is "tcp"', { ports: [{ protocol: 'tcp' }] }],
    ['endPort: needs a port that is a number', { ports: [{ endPort: 90 }] }],
    ['endPort: needs a port that is a number', { ports: [{ port: 'http', endPort: 90 }] }],
    ['endPort: must not be below port 80', { ports: [{ port: 80, endPort: 79 }] }],
    ['unknown field "domains"', { domains: ['a'] }],
    ['from: must have at most 1024 items', { from: Array.from({ length: 1025 }, () => ({ podSelector: {} })) }],
  ])('refuses a rule: %s', (message, rule) => expect(() => ingress(rule)).toThrow(message));
});

describe('readPolicyReach', () => {
  const all = { podSelector: {}, types: ['Ingress', 'Egress'] };

  it.each([
    [undefined, all],
    ['text', all],
    [{ podSelector: 7 }, all],
    [{ podSelector: 7, policyTypes: ['Ingress'] }, all],
    [
      { podSelector: {}, policyTypes: ['Sideways'] },
      { ...all, podSelector: { matchLabels: {}, matchExpressions: [] } },
    ],
    [
      { policyTypes: ['Egress'], ingress: 7 },
      { podSelector: {}, types: ['Egress'] },
    ],
    [{ ingress: 7 }, { podSelector: {}, types: ['Ingress'] }],
    [{ egress: 7 }, all],
  ])('of %j is %j', (spec, want) => expect(readPolicyReach(spec)).toEqual(want));
});
