/** Which networks this node has, and what of their addresses is the node's. */
import { networkFamilies } from '../../../api/network.ts';
import { type Cidr, cidrFamily } from '../../../net/cidr.ts';
import type { NetworkFact, NodeFact } from '../../model/facts.ts';
import { layer2SwitchName, nodeSwitchName } from '../../model/names.ts';
import type { View } from '../../model/view.ts';

export interface LocalNetwork {
  readonly network: NetworkFact;
  /** On layer 3 this node's part of the network, on layer 2 the network itself; at least one. */
  readonly subnets: readonly Cidr[];
}

/**
 * The default network, or a primary one. Undefined where this node has no part of it: there can be no pods of it then,
 * and OVN need not know of it.
 */
export const localNetwork = (name: string, view: View): LocalNetwork | undefined => {
  const network = view.network(name);
  if (network === undefined || network.role === 'secondary' || !view.isNetworkHere(name)) return undefined;
  const subnets = localSubnets(network, view);
  return subnets.length === 0 ? undefined : { network, subnets };
};

/** Of a namespace whose pods have one; there need not be a network of that name yet. */
export const primaryNetworkName = (namespace: string, view: View): string | undefined =>
  view.namespace(namespace)?.wantsPrimaryNetwork === true ? view.primaryNad(namespace)?.network : undefined;

/** Of the switch with the network's pods on the node. */
export const podSwitchName = ({ name, topology }: Pick<NetworkFact, 'name' | 'topology'>, node: string): string =>
  topology === 'layer2' ? layer2SwitchName(name) : nodeSwitchName(name, node);

const localSubnets = ({ name, topology, subnets, tunnelKeys }: NetworkFact, view: View): readonly Cidr[] => {
  if (topology === 'layer3') return view.nodeSubnets(view.node, name);
  // Without the keys of the other zones, no packet would find its way.
  return topology === 'layer2' && tunnelKeys.length > 0 ? subnets.map(({ cidr }) => cidr) : [];
};

/** Of subnets that the cluster has in both families, those that the network uses. */
export const ofNetworkFamilies = (network: NetworkFact, subnets: readonly Cidr[]): Cidr[] => {
  const families = networkFamilies(network);
  return subnets.filter((subnet) => families.includes(cidrFamily(subnet)));
};

/** `options` of a router port behind which packets may have to be made smaller. ovn-nb(5), Logical_Router_Port. */
export const gatewayMtu = (
  { mtu }: Pick<NetworkFact, 'mtu'>,
  { gatewayMtuSupport }: Pick<NodeFact, 'gatewayMtuSupport'>,
): Record<string, string> => (gatewayMtuSupport ? { gateway_mtu: String(mtu) } : {});
