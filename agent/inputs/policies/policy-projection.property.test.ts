/** A policy with anything anywhere in it: the agent goes on, and what cannot be read lets nothing through. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PolicyWorld } from '../../testing/policy-world.ts';
import { projectPolicy } from './policy-projection.ts';

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

const project = (spec: unknown) => projectPolicy({ metadata: { namespace: 'red', name: 'p', uid: 'u' }, ...{ spec } });
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
