/** As many objects as a large cluster has, in the order in which its users change them, against an index that reads what came of it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { FactStore } from '../../model/fact-store.ts';
import type { FactKind } from '../../model/facts.ts';
import { PolicyWorld, type WorldPod } from '../../testing/policy-world.ts';

const NAMESPACES = 100;
const PODS = 5_000;
const POLICIES = 2_000;
/** Objects of each kind that are changed a second time, some of them by going. */
const CHANGED = 0.3;

type Change = (world: PolicyWorld) => void;

/** By key: what is, in the end. */
type Objects = Map<string, Change>;

const random = (seed: number) => {
  const values = fc.sample(fc.infiniteStream(fc.nat(0x3fff_ffff)), { seed, numRuns: 1 })[0] as Stream;
  const below = (limit: number): number => (values.next().value as number) % limit;
  return { below, oneOf: <T>(items: readonly T[]): T => items[below(items.length)] as T };
};
type Stream = Iterator<number>;
type Random = ReturnType<typeof random>;

const namespaceName = (index: number): string => `n${index}`;
const labelsOf = ({ below }: Random) => ({ app: `a${below(20)}`, tier: `t${below(4)}` });
const selectorOf = ({ below, oneOf }: Random) =>
  oneOf<object>([
    {},
    { matchLabels: { app: `a${below(20)}` } },
    { matchLabels: { tier: `t${below(4)}` } },
    { matchExpressions: [{ key: 'app', operator: 'In', values: [`a${below(20)}`, `a${below(20)}`] }] },
    { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: [`t${below(4)}`] }] },
  ]);
const peerOf = (from: Random): object =>
  from.oneOf<() => object>([
    () => ({ podSelector: selectorOf(from) }),
    () => ({ namespaceSelector: { matchLabels: { team: `m${from.below(10)}` } } }),
    () => ({ namespaceSelector: { matchLabels: { team: `m${from.below(10)}` } }, podSelector: selectorOf(from) }),
    () => ({ ipBlock: { cidr: `10.${from.below(200)}.0.0/16`, except: [`10.${from.below(200)}.0.0/24`] } }),
  ])();
const portOf = (from: Random): object => from.oneOf([{ port: 80 }, { port: 'http' }, { port: 8000, endPort: 8010 }]);
const specOf = (from: Random): object => ({
  podSelector: selectorOf(from),
  ingress: [{ from: [peerOf(from), peerOf(from)], ports: [portOf(from)] }],
  ...(from.below(3) === 0 && { egress: [{ to: [peerOf(from)], ports: [portOf(from)] }] }),
});
/** One of ten is of this node. */
const podOf = (from: Random, index: number): WorldPod => ({
  ...{ labels: labelsOf(from), isLocal: index % 10 === 0, node: `node${index % 10}` },
  ports: [`http:tcp:${from.oneOf([80, 8080])}`],
  ips: { default: [`10.${128 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`] },
  ...(from.below(50) === 0 && { finished: true }),
});

const OBJECTS: readonly (readonly [count: number, make: (from: Random, index: number, isThere: boolean) => Change])[] =
  [
    [
      NAMESPACES,
      (from, index) => {
        const labels = { team: `m${from.below(10)}` };
        return (world) => world.namespace(namespaceName(index), labels);
      },
    ],
    [
      PODS,
      (from, index, isThere) => {
        const pod = isThere ? podOf(from, index) : undefined;
        return (world) => world.pod(`${namespaceName(index % NAMESPACES)}/p${index}`, pod);
      },
    ],
    [
      POLICIES,
      (from, index, isThere) => {
        const spec = isThere ? specOf(from) : undefined;
        return (world) => world.policy(`${namespaceName(index % NAMESPACES)}/q${index}`, spec);
      },
    ],
  ];

/** @returns all changes in a random order, those of one object in theirs, and what is in the end */
const changesOf = (from: Random): { readonly changes: readonly Change[]; readonly objects: Objects } => {
  const placed: (readonly [at: number, change: Change])[] = [];
  const objects: Objects = new Map();
  for (const [kind, [count, make]] of OBJECTS.entries())
    for (let index = 0; index < count; index += 1) {
      const first = from.below(1_000_000);
      placed.push([first, make(from, index, true)]);
      const last = from.below(100) < 100 * CHANGED ? make(from, index, from.below(4) > 0) : placed.at(-1)?.[1];
      placed.push([first + from.below(1_000_000), last as Change]);
      objects.set(`${kind}/${index}`, last as Change);
    }
  return { changes: placed.sort(([a], [b]) => a - b).map(([, change]) => change), objects };
};

const KINDS = ['policyRule', 'peerSet', 'denyGroup', 'podPolicy', 'policyPeer', 'decidedPod'] as const;

const textsOf = (facts: FactStore, kind: FactKind): ReadonlyMap<string, string> =>
  new Map([...facts.ids(kind)].sort().map((id) => [id, JSON.stringify(plain(facts.get(kind, id)))]));

const plain = (fact: unknown): unknown => {
  if (typeof fact !== 'object' || fact === null || !('sets' in fact)) return fact;
  return [...(fact.sets as ReadonlyMap<string, unknown>)].sort(([a], [b]) => (a < b ? -1 : 1));
};

const newWorld = (): PolicyWorld => {
  const world = new PolicyWorld();
  for (let index = 0; index < NAMESPACES; index += 1) {
    const name = namespaceName(index);
    world.facts.set('namespace', name, { name, wantsPrimaryNetwork: false });
  }
  return world;
};

it('2,000 policies and 5,000 pods, changed in a random order, are as if read from scratch', {
  timeout: 240_000,
}, () => {
  const seed = Number(process.env['UDN_SEED'] ?? 1);
  const { changes, objects } = changesOf(random(seed));
  const world = newWorld();
  for (const change of changes) change(world);
  const fresh = newWorld();
  for (const change of objects.values()) change(fresh);
  for (const kind of KINDS) {
    const [found, wanted] = [textsOf(world.facts, kind), textsOf(fresh.facts, kind)];
    const other = [...new Set([...found.keys(), ...wanted.keys()])].filter((id) => found.get(id) !== wanted.get(id));
    expect({ seed, kind, other: other.slice(0, 5) }).toEqual({ seed, kind, other: [] });
    expect(wanted.size).toBeGreaterThan(0);
  }
});
