/** Random objects that administrators' policies are about, and what brings them about. */
import fc from 'fast-check';
import type { LabelSelector, Labels } from '../../../../api/label-selector.ts';
import { parseIp } from '../../../../net/ip.ts';
import { PolicyWorld, WORLD_NETWORKS, type WorldPod } from '../../../testing/policy-world.ts';

interface NamespacedPod {
  readonly namespaceSelector: LabelSelector;
  readonly podSelector: LabelSelector;
}
export interface Peer {
  readonly namespaces?: LabelSelector;
  readonly pods?: NamespacedPod;
  readonly nodes?: LabelSelector;
  readonly networks?: readonly string[];
  readonly domainNames?: readonly string[];
}
export interface Port {
  readonly portNumber?: { readonly protocol: string; readonly port: number };
  readonly portRange?: { readonly protocol: string; readonly start: number; readonly end: number };
  readonly namedPort?: string;
}
export interface Rule {
  readonly action: 'Allow' | 'Deny' | 'Pass';
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly Port[];
}
export interface Spec {
  readonly priority: number;
  readonly subject: Peer;
  readonly ingress: readonly Rule[];
  readonly egress: readonly Rule[];
}
interface Node {
  readonly labels: Labels;
  readonly ips: readonly string[];
}

export interface Objects {
  readonly namespaces: Map<string, Labels>;
  readonly networks: Set<Tenant>;
  readonly pods: Map<string, WorldPod>;
  /** By name; `default` is the baseline one. */
  readonly policies: Map<string, Spec>;
  /** By `namespace/name`: what it isolates and allows nothing. */
  readonly isolated: Map<string, LabelSelector>;
  readonly nodes: Map<string, Node>;
}
export type Tenant = keyof typeof WORLD_NETWORKS;
type Put<What extends keyof Objects> =
  Objects[What] extends Map<string, infer Item>
    ? { readonly what: What; readonly at: string; readonly item: Item | undefined }
    : never;
export type Event =
  | { [What in keyof Objects]: Put<What> }[keyof Objects]
  | { readonly what: 'network'; readonly at: Tenant; readonly isThere: boolean };

export const NAMESPACES = ['red', 'blue', 't1', 't2', 't3'] as const;
const TENANTS = ['t1', 't2', 't3'] as const;

const often = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: fc.constant(undefined) });
const key = fc.constantFrom('app', 'tier');
const value = fc.constantFrom('a', 'b');
const labels: fc.Arbitrary<Labels> = fc.dictionary(key, value, { maxKeys: 2 });
const selector: fc.Arbitrary<LabelSelector> = fc.oneof(
  fc.constant({}),
  fc.record({ matchLabels: fc.dictionary(key, value, { maxKeys: 1 }) }),
  fc
    .record({ key, operator: fc.constantFrom('NotIn', 'In'), values: fc.array(value, { minLength: 1 }) })
    .map((expression): LabelSelector => ({ matchExpressions: [expression] })),
);
const podPeer: fc.Arbitrary<Peer> = fc.oneof(
  fc.record({ namespaces: selector }),
  fc.record({ pods: fc.record({ namespaceSelector: selector, podSelector: selector }) }),
);
const block = fc.constantFrom(
  '0.0.0.0/0',
  '10.0.0.0/30',
  '10.0.0.2/31',
  '10.128.0.0/29',
  '172.18.0.0/16',
  'fd00::/126',
);
const outerPeer: fc.Arbitrary<Peer> = fc.oneof(
  fc.record({ nodes: selector }),
  fc.record({ networks: fc.array(block, { minLength: 1, maxLength: 3 }) }),
);
/** What a resolver has found of names that rules have. */
export const ANSWERS = new Map<string, readonly string[]>([
  ['a.example.', ['192.0.2.9', '10.0.0.3', 'fd00::3']],
  // Whoever owns it tries for nodes and for pods.
  ['b.example.', ['172.18.0.2', '10.128.0.1', '10.128.0.2', '10.0.0.2']],
]);
const namePeer: fc.Arbitrary<Peer> = fc.record({
  domainNames: fc.array(fc.constantFrom(...ANSWERS.keys(), 'A.Example', '*.example'), { minLength: 1, maxLength: 3 }),
});
const protocol = fc.constantFrom('TCP', 'UDP', 'SCTP');
const numbered: fc.Arbitrary<Port> = fc.oneof(
  fc.record({ portNumber: fc.record({ protocol, port: fc.constantFrom(80, 81) }) }),
  fc.record({ portRange: fc.record({ protocol, start: fc.constantFrom(80, 81), end: fc.constantFrom(81, 90) }) }),
);
const named: fc.Arbitrary<Port> = fc.record({ namedPort: fc.constantFrom('http', 'dns') });
const some = <T>(item: fc.Arbitrary<T>) => fc.array(item, { minLength: 1, maxLength: 3 });
const action = fc.constantFrom<Rule['action']>('Allow', 'Deny', 'Pass');
const ports = fc.option(some(fc.oneof(numbered, named)), { nil: undefined });
const ingress = fc.record({ action, from: some(podPeer), ports });
const egress = fc.oneof(
  fc.record({ action, to: some(podPeer), ports }),
  fc.record({
    ...{ action, to: some(fc.oneof(podPeer, outerPeer)) },
    ports: fc.option(some(numbered), { nil: undefined }),
  }),
  fc.record({
    ...{ action: fc.constant<Rule['action']>('Allow'), to: some(fc.oneof(podPeer, outerPeer, namePeer)) },
    ports: fc.option(some(numbered), { nil: undefined }),
  }),
);
const spec: fc.Arbitrary<Spec> = fc.record({
  priority: fc.constantFrom(0, 5, 5, 1000),
  subject: podPeer,
  ingress: fc.array(ingress, { maxLength: 3 }),
  egress: fc.array(egress, { maxLength: 3 }),
}) as fc.Arbitrary<Spec>;

const podKey = fc.tuple(fc.constantFrom(...NAMESPACES), fc.constantFrom('x', 'y')).map((parts) => parts.join('/'));
const host = fc.integer({ min: 0, max: 7 });
const pod = fc
  .record({
    ...{ labels, isLocal: fc.constantFrom(true, true, false), finished: fc.constantFrom(false, false, false, true) },
    ports: fc.subarray(['http:tcp:80', 'http:tcp:8080', 'dns:udp:53', 'http:sctp:81']),
    hosts: fc.tuple(host, host),
  })
  .map(({ hosts: [first, second], ...rest }) => (namespace: string): WorldPod => {
    const own = namespace in WORLD_NETWORKS ? { [`${namespace}/net`]: [`10.0.0.${second}`, `fd00::${second}`] } : {};
    return { ...rest, ips: { default: [`10.128.0.${first}`], ...own } };
  });
const node: fc.Arbitrary<Node> = fc.record({
  ...{ labels, ips: fc.subarray(['172.18.0.2', '172.18.0.3', '192.0.2.9', '10.128.0.1'], { minLength: 1 }) },
});

export const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ what: fc.constant('namespaces' as const), at: fc.constantFrom(...NAMESPACES), item: often(labels) }),
  fc.record({ what: fc.constant('network' as const), at: fc.constantFrom(...TENANTS), isThere: fc.boolean() }),
  fc.record({ what: fc.constant('nodes' as const), at: fc.constantFrom('n1', 'n2'), item: often(node) }),
  fc.record({ what: fc.constant('isolated' as const), at: podKey, item: often(selector) }),
  {
    weight: 4,
    arbitrary: fc
      .record({ at: podKey, item: often(pod) })
      .map(({ at, item }): Event => ({ what: 'pods', at, item: item?.(namespaceOf(at)) })),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ what: fc.constant('policies' as const), at: fc.constantFrom('p', 'q', 'r', 'default'), item: often(spec) },
    }),
  },
);

const put = <K, V>(map: Map<K, V>, at: K, item: V | undefined): void => {
  if (item === undefined) map.delete(at);
  else map.set(at, item);
};

export const beginWorld = (): { world: PolicyWorld; objects: Objects } => {
  const world = new PolicyWorld();
  for (const [name, ips] of ANSWERS) world.facts.set('domainAddresses', name, ips.map(parseIp));
  for (const name of NAMESPACES)
    world.facts.set('namespace', name, { name, wantsPrimaryNetwork: name in WORLD_NETWORKS });
  const objects: Objects = {
    ...{ namespaces: new Map(), networks: new Set(), pods: new Map() },
    ...{ policies: new Map(), isolated: new Map(), nodes: new Map() },
  };
  return { world, objects };
};

export const apply = (one: Event, world: PolicyWorld, objects: Objects): void => {
  switch (one.what) {
    case 'network':
      if (one.isThere) objects.networks.add(one.at);
      else objects.networks.delete(one.at);
      world.network(one.at, one.isThere);
      return;
    case 'namespaces':
      // Its object goes last in Kubernetes; where it seems to go before its pods, these keep what its labels were.
      if (one.item === undefined && [...objects.pods.keys()].some((at) => namespaceOf(at) === one.at)) return;
      put(objects.namespaces, one.at, one.item);
      world.namespace(one.at, one.item);
      return;
    case 'pods':
      put(objects.pods, one.at, one.item);
      world.pod(one.at, one.item);
      return;
    case 'nodes':
      put(objects.nodes, one.at, one.item);
      world.node(one.at, one.item);
      return;
    case 'isolated':
      put(objects.isolated, one.at, one.item);
      world.policy(one.at, one.item && { podSelector: one.item, policyTypes: ['Ingress', 'Egress'] });
      return;
    case 'policies':
      put(objects.policies, one.at, one.item);
      applyPolicy(one.at, one.item, world);
      return;
  }
};

export const applyPolicy = (name: string, item: Spec | undefined, world: PolicyWorld): void => {
  if (name !== 'default') {
    world.adminPolicy('AdminNetworkPolicy', name, item);
    return;
  }
  const { priority: _, ...baseline } = item ?? { priority: 0 };
  world.adminPolicy('BaselineAdminNetworkPolicy', name, item && baseline);
};

export const eventsOf = ({ networks, ...maps }: Objects): Event[] => [
  ...[...networks].map((at): Event => ({ what: 'network', at, isThere: true })),
  ...Object.entries(maps).flatMap(([what, map]) => [...map].map(([at, item]) => ({ what, at, item }) as Event)),
];

export const namespaceOf = (at: string): string => at.split('/')[0] ?? '';
