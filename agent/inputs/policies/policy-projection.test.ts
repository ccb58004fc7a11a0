import { describe, expect, it } from 'vitest';
import { projectPolicy } from './policy-projection.ts';

const project = (spec: unknown) => projectPolicy({ metadata: { namespace: 'red', name: 'p', uid: 'u' }, ...{ spec } });
const blocks = (count: number) => ({
  ipBlock: { cidr: '0.0.0.0/0', except: Array.from({ length: count }, (_, n) => `10.${n >> 8}.${n & 255}.1/32`) },
});

const selectors = (count: number, kind: string) =>
  Array.from({ length: count }, (_, n) => ({ [kind]: { matchLabels: { n: `${n}` } } }));
const names = (count: number) => Array.from({ length: count }, (_, n) => ({ port: `n${n}` }));
const MANY_COPIES = { ingress: [{ from: [blocks(400)], ports: [{ port: 1 }, { port: 2 }, { port: 3 }] }] };

describe('projectPolicy', () => {
  it('says why a policy is closed', () => {
    const { policy, problems } = project({ podSelector: { matchLabels: { app: 'a' } }, ingress: [{ from: [{}] }] });
    expect(policy).toMatchObject({
      podSelector: { matchLabels: { app: 'a' } },
      types: ['Ingress'],
      ingress: [],
      egress: [],
    });
    expect(problems).toEqual([
      {
        object: 'NetworkPolicy/red/p',
        message:
          'spec.ingress[0].from[0]: must have a selector or ipBlock; the policy isolates its pods and allows nothing',
        cause: 'object-unreadable',
      },
    ]);
  });

  it('cuts what it says', () => {
    const { problems } = project({ ingress: [{ ['x'.repeat(100_000)]: 1 }] });
    expect(problems[0]?.message.length).toBeLessThan(500);
  });

  it.each([
    ['prefixes', 'more than 8192 prefixes', { ingress: [1, 2, 3, 4].map(() => ({ from: [blocks(300)] })) }],
    ['copies of prefixes', 'prefixes of ipBlocks in its rules, more than 8192', MANY_COPIES],
    [
      'selectors',
      '300 peers that are selectors, more than 256',
      { ingress: [{ from: selectors(300, 'podSelector') }] },
    ],
    ['scopes', '200 peers with a namespaceSelector', { ingress: [{ from: selectors(200, 'namespaceSelector') }] }],
    ['named ports', '300 named ports of ingress', { ingress: [{ ports: names(300) }] }],
    ['excepts', 'must have at most 4096 items', { ingress: [{ from: [blocks(10_000)] }] }],
    [
      'combinations',
      '1200 combinations of peers and ports, more than 1024',
      {
        egress: [
          {
            to: Array.from({ length: 400 }, (_, n) => ({ podSelector: { matchLabels: { n: `${n}` } } })),
            ports: [{ port: 1 }, { port: 2 }, { port: 3 }],
          },
        ],
      },
    ],
  ])('closes a policy with too many %s', (_, message, spec) => {
    const before = performance.now();
    const { policy, problems } = project(spec);
    expect(performance.now() - before).toBeLessThan(5000);
    expect(problems[0]?.message).toContain(message);
    expect([policy.ingress, policy.egress]).toEqual([[], []]);
  });

  it('is the same object after changes that policies do not follow from', () => {
    const spec = { ingress: [{ from: [blocks(3)] }] };
    const object = (annotations: Record<string, string>) => ({
      ...{ metadata: { namespace: 'red', name: 'p', uid: 'u', annotations }, spec: structuredClone(spec) },
    });
    const before = projectPolicy(object({}));
    expect(projectPolicy(object({ note: 'x' }), before)).toBe(before);
    const stateless = projectPolicy(object({ 'k8s.ovn.org/acl-stateless': 'true' }), before);
    expect(stateless.policy.stateless).toBe(true);
  });
});

it.each([
  ['true', true, []],
  ['false', false, []],
  ['yes', false, ['annotation k8s.ovn.org/acl-stateless: "yes" is neither "true" nor "false": its rules are stateful']],
])('takes acl-stateless "%s"', (value, stateless, notes) => {
  const annotations = { 'k8s.ovn.org/acl-stateless': value };
  const object = { metadata: { namespace: 'red', name: 'p', annotations }, ...{ spec: { podSelector: {} } } };
  const { policy, problems } = projectPolicy(object);
  expect([policy.stateless, problems.map(({ message }) => message)]).toEqual([stateless, notes]);
  expect(problems.every(({ severity }) => severity === 'warning')).toBe(true);
});
