/** Two different things never have one name, however their owners call them: what would collide is refused where it comes in. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  cudnNetworkName,
  DEFAULT_NETWORK_NAME,
  nadKey,
  networkPrefix,
  refusalOfBridgeName,
  refusalOfNodeName,
  udnNetworkName,
} from '../../api/names.ts';
import { RowNames } from '../../cluster-manager/allocation/row-names.ts';
import { parseNetworkId } from '../../net/ids.ts';
import { localnetPatchPortName, managementLinkName, patchPortName, vrfName } from '../model/host-names.ts';
import * as names from '../model/names.ts';
import { TestCluster } from '../testing/cluster.ts';
import { NetworkClaims } from './network-claims.ts';
import { holderOfPortName } from './port-name-clash.ts';

/** What names of infrastructure are made of, and what looks like it. */
const PIECES = [
  ...[
    'join',
    'transit',
    'switch',
    'router',
    'cluster',
    'ovn',
    'layer2',
    'ext',
    'red',
    'a',
    'b',
    'n1',
    'br',
    'ex',
    'udn',
  ],
  ...['rtos', 'stor', 'rtots', 'tstor', 'k8s', 'rtoj', 'jtor', 'rtoe', 'etor', 'trtos', 'stotr', 'breth0', 'default'],
];
const joined = (separators: readonly string[], most: number, pieces: readonly string[] = PIECES) =>
  fc
    .array(fc.tuple(fc.constantFrom(...pieces), fc.constantFrom(...separators)), { minLength: 1, maxLength: most })
    .map((parts) =>
      parts.flatMap(([piece, separator], index) => (index === 0 ? [piece] : [separator, piece])).join(''),
    );

/** RFC 1123: a namespace is a label, the name of a node, a pod or a NAD a subdomain. */
const label = joined(['-', ''], 3);
const subdomain = joined(['-', '.', ''], 3);
/** The name of a network that was written by hand is any text. */
const anyText = joined(['-', '.', '_', '/', ''], 5, [
  ...PIECES,
  'GR',
  'GR_',
  'ext_',
  'transit_switch',
  'ovn_cluster_router',
  '_',
]);

const worlds = fc.record({
  nodes: fc.uniqueArray(subdomain, { minLength: 1, maxLength: 4 }),
  bridge: fc.oneof(fc.constantFrom('br-ex', 'breth0', 'br.ex', 'br_red', 'rtos-a', 'k8s-x', 'rtoj-GR'), subdomain),
  networks: fc.uniqueArray(
    fc.oneof(
      anyText,
      fc.tuple(label, subdomain).map(([namespace, name]) => udnNetworkName(namespace, name)),
      subdomain.map(cudnNetworkName),
    ),
    { maxLength: 5 },
  ),
  pods: fc.uniqueArray(
    fc.tuple(
      label,
      fc.oneof(
        subdomain,
        fc.tuple(fc.constantFrom('tstor', 'rtots'), subdomain).map((two) => two.join('-')),
      ),
    ),
    {
      maxLength: 6,
      selector: (pod) => pod.join('/'),
    },
  ),
  nads: fc.array(subdomain, { minLength: 1, maxLength: 3 }),
});

type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

/** Table → name → thing. */
class Names {
  readonly #tables = new Map<string, Map<string, string>>();

  of(table: string): Iterable<string> {
    return this.#tables.get(table)?.keys() ?? [];
  }

  add(table: string, name: string, thing: string): void {
    const known = this.#tables.get(table) ?? new Map<string, string>();
    this.#tables.set(table, known);
    const other = known.get(name);
    if (other !== undefined && other !== thing) throw new Error(`${table} ${name} is of ${other} and ${thing}`);
    known.set(name, thing);
  }
}

const addNetwork = (
  all: Names,
  network: string,
  id: number,
  nodes: readonly string[],
  { bridge, local }: Site,
): void => {
  const of = (what: string): string => `network ${network}: ${what}`;
  const cluster = names.clusterRouterName(network);
  const transit = names.transitRouterName(network);
  all.add('switch', names.joinSwitchName(network), of('join switch'));
  all.add('switch', names.transitSwitchName(network), of('transit switch'));
  all.add('switch', names.layer2SwitchName(network), of('layer-2 switch'));
  // Of secondary networks only.
  if (network !== DEFAULT_NETWORK_NAME) {
    all.add('switch', names.localnetSwitchName(network), of('localnet switch'));
    all.add('port', names.localnetPortName(network), of('port to the physical network'));
    all.add('ovs port', localnetPatchPortName(network), of('patch port to the physical network'));
  }
  all.add('router', cluster, of('router'));
  // Of layer-2 networks only.
  if (network !== DEFAULT_NETWORK_NAME) all.add('router', transit, of('transit router'));
  all.add('group', names.loadBalancerGroupName(network), of('balancers'));
  all.add('owner', names.controllerName(network), of('owner'));
  all.add('link', managementLinkName(parseNetworkId(id)), of('management link'));
  all.add('link', vrfName(network, parseNetworkId(id), { bridge }), of('VRF'));
  for (const service of ['a/b', 'a/transit', 'ext/a']) {
    for (const scope of ['cluster', 'node_switch_n1', 'cluster_refused']) {
      for (const kind of ['Service', 'Pod'] as const) {
        const name = names.loadBalancerName(network, { kind, key: service }, 'TCP', scope);
        all.add('balancer', name, of(`${kind} ${service} ${scope}`));
      }
    }
  }
  all.add('port', names.transitRouterToSwitchPortName(network), of('transit router to switch'));
  all.add('port', names.switchToTransitRouterPortName(network), of('switch to transit router'));
  for (const router of network === DEFAULT_NETWORK_NAME ? [cluster] : [cluster, transit])
    addRouterPorts(all, router, `${of(router)}`);
  for (const node of nodes) {
    const here = (what: string): string => of(`${what} on node ${node}`);
    all.add('switch', names.nodeSwitchName(network, node), here('switch'));
    all.add('switch', names.externalSwitchName(network, node), here('external switch'));
    all.add('router', names.gatewayRouterName(network, node), here('gateway router'));
    all.add('port', names.routerToSwitchPortName(network, node), here('router to switch'));
    all.add('port', names.switchToRouterPortName(network, node), here('switch to router'));
    all.add('port', names.routerToTransitPortName(network, node), here('router to transit switch'));
    all.add('port', names.transitToRouterPortName(network, node), here('transit switch to router'));
    all.add('port', names.managementPortName(network, node), here('management port'));
    addRouterPorts(all, names.gatewayRouterName(network, node), here('gateway router'));
  }
  all.add('port', names.externalBridgePortName(bridge, network, local), of('localnet port'));
  const gateway = { bridge, interfaceId: `${bridge}_${local}` } as Parameters<typeof patchPortName>[0];
  all.add('ovs port', patchPortName(gateway, network, local), of('patch port'));
};

interface Site {
  readonly bridge: string;
  readonly local: string;
}

const addRouterPorts = (all: Names, router: string, thing: string): void => {
  for (const [kind, make] of Object.entries({
    rtoj: names.routerToJoinPortName,
    jtor: names.joinToRouterPortName,
    rtoe: names.routerToExternalPortName,
    etor: names.externalToRouterPortName,
    rtotr: names.routerToTransitRouterPortName,
    trtor: names.transitRouterToRouterPortName,
  })) {
    all.add('port', make(router), `${thing} ${kind}`);
  }
};

/** What gets in has its names: networks in the order in which they came, nodes and pods. @throws Error when two have one */
const admit = ({ nodes, bridge, networks, pods, nads }: World): void => {
  const rowNames = new RowNames();
  const claims = new NetworkClaims();
  const allowed = networks.filter((network, index) => {
    const isReserved = ['', DEFAULT_NETWORK_NAME, 'ovn-kubernetes'].includes(network);
    if (isReserved || rowNames.isTaken(network)) return false;
    rowNames.claim(network);
    claims.set(network, { network, age: `2026 ${index}`, keys: { id: parseNetworkId(index + 2), tunnelKeys: [] } });
    // Agents decide for themselves, and as the cluster manager does.
    expect(claims.rivalOf(network)).toBeUndefined();
    return true;
  });
  const good = nodes.filter((node) => refusalOfNodeName(node) === undefined);
  const [local = 'local', ...others] = good;
  const cluster = new TestCluster(local);
  for (const node of [local, ...others]) cluster.node(node);
  cluster.gateway(local, { bridge, addresses: ['172.18.0.2/16'] });
  const prefixes = new Map(allowed.map((network) => [networkPrefix(network), network]));
  const view = {
    node: local,
    gateway: (node: string) => cluster.facts.get('gateway', node),
    nodeFact: (node: string) => cluster.facts.get('node', node),
    networkWithPrefix: (prefix: string) => prefixes.get(prefix),
  };
  const all = new Names();
  for (const [id, network] of [DEFAULT_NETWORK_NAME, ...allowed].entries()) {
    addNetwork(all, network, id, [local, ...others], { bridge, local });
  }
  const attached = pods.flatMap(([namespace, pod]) =>
    ['default', ...nads.slice(0, 1).map((nad) => nadKey(namespace, nad))].map((key) => ({ key, namespace, pod })),
  );
  for (const { key, namespace, pod } of [...attached, ...impostors(all.of('port'))]) {
    const name = names.podPortName(key, namespace, pod);
    if (holderOfPortName(name, view) === undefined) all.add('port', name, `pod ${namespace}/${pod} on ${key}`);
  }
};

/** Pods whose ports would have such names, as far as pods can have theirs. */
const impostors = (ports: Iterable<string>) =>
  [...ports].flatMap((name) => {
    const [, prefix = '', namespace = '', pod = ''] = /^([a-z0-9.]+_)?([a-z0-9-]+)_([a-z0-9.-]+)$/.exec(name) ?? [];
    if (namespace === '') return [];
    if (prefix === '') return [{ key: 'default', namespace, pod }];
    const own = `${namespace.replaceAll('-', '.')}.`;
    return prefix.startsWith(own) ? [{ key: nadKey(namespace, prefix.slice(own.length, -1)), namespace, pod }] : [];
  });

it('no two things have one name', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      fc.pre(refusalOfBridgeName(world.bridge) === undefined);
      admit(world);
    }),
    { numRuns: 3_000 },
  );
});

it('refuses only what would collide', () => {
  const taken = (...networks: string[]): string[] => {
    const rowNames = new RowNames();
    return networks.filter((network) => {
      if (rowNames.isTaken(network)) return true;
      rowNames.claim(network);
      return false;
    });
  };
  expect(taken('a-b', 'a.b', 'a_b', 'a_c', 'cluster_udn_a', 'a')).toEqual(['a.b']);
  expect(taken('red', 'ext_red', 'GR_red', 'red_transit', 'red_blue', 'ext_blue')).toEqual([
    'ext_red',
    'GR_red',
    'red_transit',
  ]);
  expect(taken('ext', 'transit', 'GR', 'join', 'ovn_cluster')).toEqual(['ext', 'transit', 'GR', 'ovn_cluster']);
  expect(['join', 'tstor-n1', 'rtots-n1', 'switch', 'router', 'k8s-1', 'node-1'].filter(refusalOfNodeName)).toEqual([
    'join',
    'tstor-n1',
    'rtots-n1',
  ]);
});
