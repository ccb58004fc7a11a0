/** The index against an evaluator that knows nothing of rules and sets, and against itself in another order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LabelSelector, type Labels, matchesSelector } from '../../../api/label-selector.ts';
import { type Cidr, cidrContainsIp, parseCidr } from '../../../net/cidr.ts';
import { type Ip, ipFamily, parseIp } from '../../../net/ip.ts';
import type { FactStore } from '../../model/fact-store.ts';
import type { FactKind, Facts } from '../../model/facts.ts';
import type { PolicyDirection, PolicyProtocol } from '../../model/policies/facts.ts';
import { DEFAULT_SUBNET, PolicyWorld, WORLD_NETWORKS, type WorldPod } from '../../testing/policy-world.ts';

interface Peer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}
interface Port {
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
  readonly port?: number | string;
  readonly endPort?: number;
}
interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly Port[];
}
interface Spec {
  readonly podSelector: LabelSelector;
  readonly policyTypes?: readonly PolicyDirection[];
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
}

/** Everything that there is; the events bring it about. */
interface Objects {
  readonly namespaces: Map<string, Labels>;
  readonly networks: Set<Tenant>;
  readonly pods: Map<string, WorldPod>;
  readonly policies: Map<string, Spec>;
}
type Tenant = keyof typeof WORLD_NETWORKS;

type Event =
  | { readonly kind: 'namespace'; readonly name: string; readonly labels: Labels | undefined }
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
  })
  .map(({ hosts: [first, second], hasDefault, stranger, ...rest }) => (namespace: string): WorldPod => {
    const own = namespace in WORLD_NETWORKS ? { [`${namespace}/net`]: [`10.0.0.${second}`, `fd00::${second}`] } : {};
    // By another namespace's NAD, and outside of the network's subnets.
    const foreign = stranger ? { 't1/net': ['10.0.0.7'], [`${namespace}/net`]: ['10.9.0.1', `10.0.0.${second}`] } : {};
    return { ...rest, ips: { ...(hasDefault && { default: [`10.128.0.${first}`] }), ...own, ...foreign } };
  });

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('namespace' as const), name: fc.constantFrom(...NAMESPACES), labels: often(labels) }),
  fc.record({ kind: fc.constant('network' as const), name: fc.constantFrom(...TENANTS), isThere: fc.boolean() }),
  {
    weight: 4,
    arbitrary: fc
      .record({ at: podKey, pod: often(pod) })
      .map(({ at, pod: make }): Event => ({ kind: 'pod', key: at, pod: make?.(at.split('/')[0] ?? '') })),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('policy' as const), key: podKey, spec: often(spec) }) },
);

const put = <K, V>(map: Map<K, V>, at: K, item: V | undefined): void => {
  if (item === undefined) map.delete(at);
  else map.set(at, item);
};

const replay = (events: readonly Event[], world: PolicyWorld, objects: Objects): void => {
  for (const one of events) {
    if (one.kind === 'namespace') {
      put(objects.namespaces, one.name, one.labels);
      world.namespace(one.name, one.labels);
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
  ...[...namespaces].map(([name, one]): Event => ({ kind: 'namespace', name, labels: one })),
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
      fc.property(fc.array(event, { minLength: 10, maxLength: 40 }), fc.infiniteStream(fc.nat()), (events, random) => {
        const { world, objects } = begin();
        replay(events, world, objects);
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
const OUTSIDE = ['1.2.3.4', '10.0.0.0', '10.0.0.3', '10.128.0.1', 'fd00::3', '2001:db8::1'].map(parseIp);

const expectNaive = (facts: FactStore, objects: Objects): void => {
  const wrong: string[] = [];
  const addresses = new Set([
    ...OUTSIDE,
    ...[...objects.pods.values()].flatMap(({ ips = {} }) => Object.values(ips).flat().map(parseIp)),
  ]);
  for (const [at, target] of objects.pods) {
    const network = networkOf(at, objects);
    if (target.isLocal !== true || target.finished === true || network === undefined) {
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

interface Probe {
  readonly network: string;
  readonly at: string;
  readonly target: WorldPod;
  readonly direction: PolicyDirection;
  readonly ip: Ip;
  readonly protocol: PolicyProtocol;
  readonly port: number;
}

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

const namespaceOf = (at: string): string => at.split('/')[0] ?? '';

const networkOf = (at: string, { networks }: Objects): { name: string; subnets: readonly Cidr[] } | undefined => {
  const namespace = namespaceOf(at) as Tenant;
  if (!(namespace in WORLD_NETWORKS)) return { name: 'default', subnets: [parseCidr(DEFAULT_SUBNET)] };
  const { name, subnets } = WORLD_NETWORKS[namespace];
  return networks.has(namespace) ? { name, subnets: subnets.map(parseCidr) } : undefined;
};

const isAllowed = (probe: Probe, objects: Objects): boolean => {
  const own = [...objects.policies].filter(
    ([at, one]) =>
      namespaceOf(at) === namespaceOf(probe.at) &&
      matchesSelector(one.podSelector, probe.target.labels ?? {}) &&
      typesOf(one).includes(probe.direction),
  );
  if (own.length === 0) return true;
  return own.some(([at, one]) =>
    (probe.direction === 'Ingress' ? one.ingress : one.egress)?.some((rule) =>
      ruleAllows(rule, probe, namespaceOf(at), objects),
    ),
  );
};

const typesOf = ({ policyTypes = [], egress = [] }: Spec): readonly PolicyDirection[] =>
  policyTypes.length > 0 ? policyTypes : egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];

const ruleAllows = (rule: Rule, probe: Probe, namespace: string, objects: Objects): boolean => {
  const whom = rule.from ?? rule.to ?? [];
  const which = rule.ports ?? [];
  const candidates: (Peer | undefined)[] = whom.length === 0 ? [undefined] : [...whom];
  return candidates.some((one) =>
    (which.length === 0 ? [undefined] : which).some((portOf) => allows(one, portOf, probe, namespace, objects)),
  );
};

const allows = (
  whom: Peer | undefined,
  which: Port | undefined,
  probe: Probe,
  namespace: string,
  objects: Objects,
): boolean => {
  const pods = peerPods(whom, probe, namespace, objects);
  const isPeer = whom === undefined || (whom.ipBlock ? isIn(whom.ipBlock, probe.ip) : pods.length > 0);
  if (!isPeer) return false;
  if (which === undefined) return true;
  if ((which.protocol ?? 'TCP').toLowerCase() !== probe.protocol) return false;
  if (which.port === undefined) return true;
  if (typeof which.port === 'number') return which.port <= probe.port && probe.port <= (which.endPort ?? which.port);
  if (whom?.ipBlock !== undefined && probe.direction === 'Egress') return false;
  const owners = probe.direction === 'Ingress' ? [probe.target] : pods;
  return owners.some(
    ({ ports: own = [] }) =>
      own.find((text) => text.startsWith(`${which.port}:${probe.protocol}:`))?.split(':')[2] === String(probe.port),
  );
};

const isIn = ({ cidr, except = [] }: NonNullable<Peer['ipBlock']>, ip: Ip): boolean =>
  cidrContainsIp(parseCidr(cidr), ip) && !except.some((part) => cidrContainsIp(parseCidr(part), ip));

/** Pods that have the address on the same network, and are selected. */
const peerPods = (whom: Peer | undefined, { network, ip }: Probe, namespace: string, objects: Objects): WorldPod[] =>
  [...objects.pods].flatMap(([at, one]) => {
    const place = networkOf(at, objects);
    const nad = namespaceOf(at) in WORLD_NETWORKS ? `${namespaceOf(at)}/net` : 'default';
    const isThere =
      one.finished !== true &&
      place?.name === network &&
      place.subnets.some((subnet) => cidrContainsIp(subnet, ip)) &&
      one.ips?.[nad]?.some((text) => parseIp(text) === ip) === true;
    if (!isThere) return [];
    const known = objects.namespaces.get(namespaceOf(at));
    const isSelected =
      whom?.namespaceSelector === undefined
        ? whom === undefined
          ? known !== undefined
          : namespaceOf(at) === namespace
        : known !== undefined && matchesSelector(whom.namespaceSelector, known);
    return isSelected && matchesSelector(whom?.podSelector ?? {}, one.labels ?? {}) ? [one] : [];
  });
