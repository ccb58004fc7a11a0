import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PolicyWorld } from '../../testing/policy-world.ts';
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
    expect(performance.now() - before).toBeLessThan(1000);
    expect(problems[0]?.message).toContain(message);
    expect([policy.ingress, policy.egress]).toEqual([[], []]);
  });

  it('closes whatever it cannot read, and nothing else', () => {
    const world = new PolicyWorld()
      .namespace('red', { team: 'a' })
      .namespace('blue', {})
      .pod('red/x', { labels: { app: 'a' }, ips: { default: ['10.128.0.1'] }, ports: ['http:tcp:80'] })
      .pod('blue/y', { ips: { default: ['10.128.0.2'] } })
      .policy('blue/q', { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] });
    const bystander = world.facts.get('podPolicy', 'blue/y');
    let closed = 0;
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations): boolean => {
        const spec = mutations.reduce(mutated, structuredClone(BASE) as unknown);
        const projection = project(spec);
        world.index.changePolicy('red/p', projection);
        const fact = world.facts.get('podPolicy', 'red/x');
        if (world.facts.get('podPolicy', 'blue/y') !== bystander) return false;
        if (projection.problems.length === 0) return true;
        closed += 1;
        // It may select other pods now, but one that it selects is let nothing through.
        if ((fact?.rules.length ?? 0) > 0) return false;
        return Object.keys(projection.policy.podSelector).length > 0 || (fact?.isolated.length ?? 0) > 0;
      }),
      { numRuns: 10_000 },
    );
    expect(closed).toBeGreaterThan(1000);
    world.policy('red/p', undefined);
    expect([...world.facts.ids('podPolicy')]).toEqual(['blue/y']);
  });
});

const BASE = {
  podSelector: { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'app', operator: 'In', values: ['a'] }] },
  policyTypes: ['Ingress', 'Egress'],
  ingress: [
    {
      from: [
        { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
        { namespaceSelector: { matchLabels: { team: 'a' } }, podSelector: {} },
      ],
      ports: [{ protocol: 'TCP', port: 80, endPort: 90 }, { port: 'http' }],
    },
  ],
  egress: [{ to: [{ podSelector: { matchLabels: { app: 'b' } } }], ports: [{ protocol: 'UDP', port: 53 }] }],
};

const junk = fc.oneof(
  fc.constantFrom(
    null,
    true,
    '',
    'x',
    0,
    -1,
    80,
    1e9,
    1.5,
    [],
    {},
    [{}],
    [null],
    '10.0.0.0/33',
    '::/0',
    'Egress',
    'In',
  ),
  fc.constantFrom(
    JSON.parse('{"__proto__":"a"}'),
    { constructor: 'a' },
    { matchLabels: JSON.parse('{"__proto__":{}}') },
  ),
);
const mutation = fc.record({
  path: fc.array(fc.nat({ max: 5 }), { minLength: 0, maxLength: 7 }),
  how: fc.constantFrom('set', 'delete', 'add', 'repeat'),
  key: fc.constantFrom('x', 'from', 'to', 'ports', 'except', 'ipBlock', 'podSelector', 'toString'),
  junk,
});
type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

/** Goes down by the n-th entry of each level, and changes what it ends at. */
const mutated = (value: unknown, { path, how, key, junk: shared }: Mutation): unknown => {
  const other = structuredClone(shared);
  const [step = 0, ...rest] = path;
  if (typeof value !== 'object' || value === null) return how === 'set' ? other : value;
  const keys = Object.keys(value);
  const at = keys[step % keys.length];
  if (at !== undefined && rest.length > 0) {
    Reflect.set(value, at, mutated(Reflect.get(value, at), { path: rest, how, key, junk: other }));
    return value;
  }
  if (path.length === 0) return how === 'set' ? other : value;
  if (how === 'delete' && at !== undefined) Reflect.deleteProperty(value, at);
  else if (how === 'add') Reflect.set(value, key, other);
  else if (how === 'repeat' && Array.isArray(value)) value.push(...structuredClone(value).slice(0, 3));
  else if (at !== undefined) Reflect.set(value, at, other);
  return value;
};
