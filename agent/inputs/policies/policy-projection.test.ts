import { describe, expect, it } from 'vitest';
import { projectPolicy } from './policy-projection.ts';

const project = (spec: unknown) => projectPolicy({ metadata: { namespace: 'red', name: 'p', uid: 'u' }, ...{ spec } });
const blocks = (count: number) => ({
  ipBlock: { cidr: '0.0.0.0/0', except: Array.from({ length: count }, (_, n) => `10.${n >> 8}.${n & 255}.1/32`) },
});

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
    ['prefixes', 'more than 4096 prefixes', { ingress: [{ from: [blocks(1000)] }] }],
    ['excepts', 'must have at most 4096 items', { ingress: [{ from: [blocks(10_000)] }] }],
    [
      'combinations',
      'peers and ports make 1200 combinations, more than 1024',
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
});
