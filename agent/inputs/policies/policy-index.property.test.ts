/** The index against an evaluator that knows nothing of rules and sets, and against itself in another order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LabelSelector, Labels } from '../../../api/label-selector.ts';
import { cidrContainsIp } from '../../../net/cidr.ts';
import { ipFamily, parseIp } from '../../../net/ip.ts';
import type { FactStore } from '../../model/fact-store.ts';
import type { FactKind, Facts } from '../../model/facts.ts';
import type { PolicyDirection, PolicyProtocol } from '../../model/policies/facts.ts';
import {
  isAllowed,
  type KnownNamespace,
  networkOf,
  type Objects,
  type Peer,
  type Port,
  type Probe,
  type Spec,
  type Tenant,
} from '../../testing/naive-policies.ts';
import { PolicyWorld, WORLD_HOSTS, WORLD_NETWORKS, type WorldPod } from '../../testing/policy-world.ts';

type Event =
  | { readonly kind: 'namespace'; readonly name: string; readonly known: KnownNamespace | undefined }
  | { readonly kind: 'network'; readonly name: Tenant; readonly isThere: boolean }
  | { readonly kind: 'pod'; readonly key: string; readonly pod: WorldPod | undefined }
  | { readonly kind: 'policy'; readonly key: string; readonly spec: Spec | undefined };

const NAMESPACES = ['red', 'blue', 't1', 't2', 't3'] as const;
const TENANTS = ['t1', 't2', 't3'] as const;

const often = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: fc.constant(undefined) });
const key = fc.constantFrom('app', 'tier');
const value = fc.constantFrom('a', 'b');
const labels: fc.Arbitrary<Labels> = fc.dictionary(key, value, { maxKeys: 2 });
const known: fc.Arbitrary<KnownNamespace> = fc.record({
  labels,
  log: fc.constantFrom(
    undefined,
    undefined,
    { allow: 'info' as const },
    { deny: 'alert' as const, allow: 'info' as const },
  ),
});
const expression = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values: fc.array(value, { minLength: 1, maxLength: 2 }) }),
  fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);
const selector: fc.Arbitrary<LabelSelector> = fc.record(
  { matchLabels: fc.dictionary(key, value, { maxKeys: 1 }), matchExpressions: fc.array(expression, { maxLength: 2 }) },
  { requiredKeys: [] },
) as fc.Arbitrary<LabelSelector>;
const block = fc.constantFrom(
  { cidr: '0.0.0.0/0' },
  { cidr: '0.0.0.0/0', except: ['10.0.0.0/31', '10.128.0.0/29'] },
  { cidr: '10.0.0.0/29', except: ['10.0.0.2/32'] },
  { cidr: '10.128.0.0/30' },
  { cidr: '::/0', except: ['fd00::2/127'] },
);
const peer: fc.Arbitrary<Peer> = fc.oneof(
  fc.record({ podSelector: selector }),
  fc.record({ namespaceSelector: selector }),
  fc.record({ namespaceSelector: selector, podSelector: selector }),
  fc.record({ ipBlock: block }),
);
const protocol = fc.constantFrom<'TCP' | 'UDP' | 'SCTP'>('TCP', 'UDP', 'SCTP');
const port: fc.Arbitrary<Port> = fc.oneof(
  fc.record({ protocol }),
  fc.record({ protocol, port: fc.constantFrom(80, 81, 'http', 'dns') }, { requiredKeys: ['port'] }),
  fc.constantFrom({ port: 80, endPort: 90 }, { port: 81, endPort: 81 }, { port: 85, endPort: 8080 }),
);
const ports = fc.array(port, { maxLength: 5 });
const peers = fc.array(peer, { maxLength: 3 });
const spec: fc.Arbitrary<Spec> = fc.record(
  {
    podSelector: selector,
    policyTypes: fc.constantFrom<PolicyDirection[]>(['Ingress'], ['Egress'], ['Ingress', 'Egress'], []),
    ingress: fc.array(fc.record({ from: peers, ports }, { requiredKeys: [] }), { maxLength: 2 }),
    egress: fc.array(fc.record({ to: peers, ports }, { requiredKeys: [] }), { maxLength: 2 }),
  },
  { requiredKeys: ['podSelector'] },
) as fc.Arbitrary<Spec>;

const podKey = fc.tuple(fc.constantFrom(...NAMESPACES), fc.constantFrom('x', 'y')).map((parts) => parts.join('/'));
const host = fc.integer({ min: 0, max: 7 });
const pod = fc
  .record({
    labels,
    isLocal: fc.boolean(),
    finished: fc.constantFrom(false, false, false, true),
    ports: fc.subarray(['http:tcp:80', 'http:tcp:8080', 'dns:udp:53', 'http:sctp:81']),
    hosts: fc.tuple(host, host),
    hasDefault: fc.boolean(),
    stranger: fc.constantFrom(false, false, false, true),
    host: fc.constantFrom(undefined, undefined, undefined, undefined, 'h1', 'h2'),
  })
  .map(({ hosts: [first, second], hasDefault, stranger, host: node, ...rest }) => (namespace: string): WorldPod => {
    if (node !== undefined) return { ...rest, isHost: true, node };
    const own = namespace in WORLD_NETWORKS ? { [`${namespace}/net`]: [`10.0.0.${second}`, `fd00::${second}`] } : {};
    // By another namespace's NAD, and outside of the network's subnets.
    const foreign = stranger ? { 't1/net': ['10.0.0.7'], [`${namespace}/net`]: ['10.9.0.1', `10.0.0.${second}`] } : {};
    return { ...rest, ips: { ...(hasDefault && { default: [`10.128.0.${first}`] }), ...own, ...foreign } };
  });

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('namespace' as const), name: fc.constantFrom(...NAMESPACES), known: often(known) }),
  fc.record({
    kind: fc.constant('network' as const),
    name: fc.constantFrom(...TENANTS),
    isThere: fc.constantFrom(true, true, true, false),
  }),
  {
    weight: 8,
    arbitrary: fc
      .record({ at: podKey, pod: often(pod) })
      .map(({ at, pod: make }): Event => ({ kind: 'pod', key: at, pod: make?.(at.split('/')[0] ?? '') })),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('policy' as const), key: podKey, spec: often(spec) }) },
);

/** Most of what happens to pods and policies needs these. */
const START: readonly Event[] = [
  ...TENANTS.map((name): Event => ({ kind: 'network', name, isThere: true })),
  ...NAMESPACES.map((name): Event => ({ kind: 'namespace', name, known: { labels: { app: 'a' }, log: undefined } })),
];

const put = <K, V>(map: Map<K, V>, at: K, item: V | undefined): void => {
  if (item === undefined) map.delete(at);
  else map.set(at, item);
};

const replay = (events: readonly Event[], world: PolicyWorld, objects: Objects): void => {
  for (const one of events) {
    if (one.kind === 'namespace') {
      put(objects.namespaces, one.name, one.known);
      world.namespace(one.name, one.known?.labels, one.known?.log);
    } else if (one.kind === 'network') {
      if (one.isThere) objects.networks.add(one.name);
      else objects.networks.delete(one.name);
      world.network(one.name, one.isThere);
    } else if (one.kind === 'pod') {
      put(objects.pods, one.key, one.pod);
      world.pod(one.key, one.pod);
    } else {
      put(objects.policies, one.key, one.spec);
      world.policy(one.key, one.spec);
    }
  }
};

const eventsOf = ({ namespaces, networks, pods, policies }: Objects): Event[] => [
  ...[...policies].map(([at, one]): Event => ({ kind: 'policy', key: at, spec: one })),
  ...[...pods].map(([at, one]): Event => ({ kind: 'pod', key: at, pod: one })),
  ...[...networks].map((name): Event => ({ kind: 'network', name, isThere: true })),
  ...[...namespaces].map(([name, one]): Event => ({ kind: 'namespace', name, known: one })),
];

const KINDS = ['policyRule', 'peerSet', 'denyGroup', 'podPolicy', 'policyPeer'] as const satisfies readonly FactKind[];

const factsOf = (facts: FactStore): Record<string, unknown> =>
  Object.fromEntries(
    KINDS.map((kind) => [
      kind,
      new Map([...facts.ids(kind)].map((id): [string, Facts[typeof kind] | undefined] => [id, facts.get(kind, id)])),
    ]),
  );

const begin = (): { world: PolicyWorld; objects: Objects } => {
  const world = new PolicyWorld();
  const objects: Objects = { namespaces: new Map(), networks: new Set(), pods: new Map(), policies: new Map() };
  // A namespace is there before its pods; its labels may come later.
  for (const name of NAMESPACES)
    world.facts.set('namespace', name, { name, wantsPrimaryNetwork: name in WORLD_NETWORKS });
  return { world, objects };
};

describe('PolicyIndex', () => {
  it('depends on the objects and not on their order, and allows what a naive evaluator allows', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 15, maxLength: 50 }), fc.infiniteStream(fc.nat()), (events, random) => {
        const { world, objects } = begin();
        replay([...START, ...events], world, objects);
        const other = begin();
        const shuffled = eventsOf(objects)
          .map((one) => ({ one, at: random.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ one }) => one);
        replay(shuffled, other.world, other.objects);
        expect(factsOf(world.facts)).toEqual(factsOf(other.world.facts));
        expectNaive(world.facts, objects);
        expectClosed(world.facts);
        for (const at of objects.policies.keys()) world.policy(at, undefined);
        for (const kind of KINDS) expect([...world.facts.ids(kind)]).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

/** Whatever is named exists, and whatever exists is named. */
const expectClosed = (facts: FactStore): void => {
  const pods = [...facts.ids('podPolicy')].map((id) => facts.get('podPolicy', id));
  const sets = [...facts.ids('policyRule')].flatMap((id) => {
    const named = facts.get('policyRule', id)?.peers;
    return named?.kind === 'set' ? [named.set] : [];
  });
  const members = [...facts.ids('policyPeer')].flatMap((id) => [...(facts.get('policyPeer', id)?.sets.keys() ?? [])]);
  expect(new Set(facts.ids('policyRule'))).toEqual(new Set(pods.flatMap((one) => one?.rules ?? [])));
  expect(new Set(facts.ids('denyGroup'))).toEqual(new Set(pods.flatMap((one) => one?.denyGroup ?? [])));
  expect(new Set(facts.ids('peerSet'))).toEqual(new Set(sets));
  expect(members.filter((set) => !sets.includes(set))).toEqual([]);
};

const PROBES: readonly (readonly [PolicyProtocol, number])[] = [
  ...(['tcp', 'udp', 'sctp'] as const).flatMap((one) => [80, 81].map((number) => [one, number] as const)),
  ['tcp', 85],
  ['tcp', 8080],
  ['tcp', 8081],
  ['udp', 53],
];
const OUTSIDE = [
  ...Object.values(WORLD_HOSTS).flat(),
  '1.2.3.4',
  '10.0.0.0',
  '10.0.0.3',
  '10.128.0.1',
  'fd00::3',
  '2001:db8::1',
].map(parseIp);

const expectNaive = (facts: FactStore, objects: Objects): void => {
  const wrong: string[] = [];
  const addresses = new Set([
    ...OUTSIDE,
    ...[...objects.pods.values()].flatMap(({ ips = {} }) => Object.values(ips).flat().map(parseIp)),
  ]);
  for (const [at, target] of objects.pods) {
    const network = networkOf(at, objects);
    if (target.isLocal !== true || target.isHost === true || target.finished === true || network === undefined) {
      expect(facts.get('podPolicy', at)).toBeUndefined();
      continue;
    }
    for (const ip of addresses) {
      if (network.name !== 'cluster_udn_shared' && ipFamily(ip) === 6) continue;
      for (const direction of ['Ingress', 'Egress'] as const)
        for (const [of, number] of PROBES) {
          const probe = { network: network.name, at, target, direction, ip, protocol: of, port: number };
          const want = isAllowed(probe, objects);
          if (isAllowedByFacts(facts, probe) !== want) wrong.push(`${at} ${direction} ${ip} ${of}/${number}: ${want}`);
        }
    }
  }
  expect(wrong).toEqual([]);
};

const isAllowedByFacts = (
  facts: FactStore,
  { network, at, direction, ip, protocol: of, port: number }: Probe,
): boolean => {
  const fact = facts.get('podPolicy', at);
  if (fact === undefined || !fact.isolated.includes(direction)) return true;
  expect(fact.network).toBe(network);
  return fact.rules.some((id) => {
    const rule = facts.get('policyRule', id);
    if (rule === undefined || rule.direction !== direction || rule.family !== ipFamily(ip) || rule.network !== network)
      return false;
    const { peers: whom, l4 } = rule;
    const isPort =
      l4 === undefined ||
      (l4.protocol === of &&
        (l4.ports?.some((term) =>
          typeof term === 'number' ? term === number : term[0] <= number && number <= term[1],
        ) ??
          true));
    if (!isPort || whom.kind === 'any') return isPort;
    if (whom.kind === 'blocks') return whom.blocks.some((one) => cidrContainsIp(one, ip));
    return [...facts.ids('policyPeer')].some(
      (one) => facts.get('policyPeer', one)?.sets.get(whom.set)?.includes(ip) === true,
    );
  });
};
