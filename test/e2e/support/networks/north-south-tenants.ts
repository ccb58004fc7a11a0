/** The tenants of the scenarios with the outside: every kind of network, each twice with the same subnets. */
import type { Sandbox } from '../../../../sandbox/index.ts';
import type { ReachabilityPod } from '../../../oracles/reachability/types.ts';
import { applyAndWait, readPod } from '../cluster/cluster.ts';
import { clusterLayer2, clusterNetwork, layer2, layer3, namespace, plainNamespace, pod } from '../cluster/manifests.ts';

export const NODES = ['node-1', 'node-2'] as const;
export type NodeName = (typeof NODES)[number];

/** Where a tenant's pods are, one on each node. The networks of shop and mart are the cluster's, over two namespaces. */
const NAMESPACES = {
  red: ['red', 'red'],
  blue: ['blue', 'blue'],
  shop: ['shop', 'shop-data'],
  green: ['green', 'green'],
  gold: ['gold', 'gold'],
  mart: ['mart', 'mart-data'],
  plain: ['plain', 'plain'],
} as const;

export type Tenant = Exclude<keyof typeof NAMESPACES, 'plain'>;
/** Those with a network: routed ones, then switched ones. */
export const TENANTS: readonly Tenant[] = ['red', 'blue', 'shop', 'green', 'gold', 'mart'];
export const TENANTS_AND_PLAIN = [...TENANTS, 'plain'] as const;

const ROUTED = ['10.70.0.0/16/24', 'fd00:70::/48/64'];
const SWITCHED = ['10.71.0.0/16', 'fd00:71::/64'];
/** Too long for a link: its VRF has a name of the node's making. */
const MART_NETWORK = 'mart-of-the-cluster';

export const networkOf = (tenant: Tenant): string =>
  ({ shop: 'cluster_udn_shop', mart: `cluster_udn_${MART_NETWORK}` })[tenant as string] ?? `${tenant}_net`;

/** A ClusterUserDefinedNetwork's own name, where a link may have it. */
export const vrfOf = (tenant: Tenant, id: number): string => (tenant === 'shop' ? 'shop' : `mp${id}-udn-vrf`);

/** Names as of `namespace/name`: the first pods of networks of one kind have the same addresses. */
export const podKey = (tenant: keyof typeof NAMESPACES, node: NodeName): string =>
  `${NAMESPACES[tenant][NODES.indexOf(node)]}/${tenant}-${node}`;

const NETWORKS = [
  ...['red', 'blue', 'green', 'gold'].map((name) => namespace(name)),
  ...(['shop', 'mart'] as const).flatMap((team) => NAMESPACES[team].map((name) => namespace(name, { team }))),
  plainNamespace('plain'),
  ...['red', 'blue'].map((name) => layer3(name, 'net', ROUTED)),
  ...['green', 'gold'].map((name) => layer2(name, 'net', SWITCHED)),
  clusterNetwork('shop', 'shop', ROUTED),
  clusterLayer2(MART_NETWORK, 'mart', SWITCHED),
];

const podsOf = (node: NodeName) =>
  TENANTS_AND_PLAIN.map((tenant) => {
    const [inNamespace = '', name = ''] = podKey(tenant, node).split('/');
    return pod(inNamespace, name, node);
  });

/**
 * Pods of the second node come later: of a network over two namespaces, whichever has its definition first would get the first address.
 *
 * @returns by key
 */
export const applyTenants = async (sandbox: Sandbox): Promise<ReadonlyMap<string, ReachabilityPod>> => {
  const [first, second] = NODES;
  await applyAndWait(sandbox, [...NETWORKS, ...podsOf(first)]);
  await applyAndWait(sandbox, podsOf(second));
  const keys = TENANTS_AND_PLAIN.flatMap((tenant) => NODES.map((node) => podKey(tenant, node)));
  return new Map(await Promise.all(keys.map(async (key) => [key, await readPod(sandbox, key)] as const)));
};
