/** Which networks this node has, and what of their addresses is the node's. */
import { networkFamilies } from '../../../api/network.ts';
import { type Cidr, cidrFamily } from '../../../net/cidr.ts';
import { isRouted, type NetworkFact, type NodeFact, type RoutedNetworkFact } from '../../model/facts.ts';
import { layer2SwitchName, localnetSwitchName, nodeSwitchName } from '../../model/names.ts';
import type { View } from '../../model/view.ts';

/** A network that has rows in this node's OVN zone, whatever its role: a switch with its pods' ports, and what joins it with other zones. */
export interface ProgrammedNetwork {
  readonly network: NetworkFact;
  /** On layer 3 this node's part of the network, otherwise the network's; none without IPAM. */
  readonly subnets: readonly Cidr[];
}

/** A programmed network that leads out of itself: gateways, services, policies and the host's ports take no other. */
export interface RoutedNetwork extends ProgrammedNetwork {
  readonly network: RoutedNetworkFact;
}

/** Undefined where this node has no part of it: there can be no pods of it then, and OVN need not know of it. */
export const programmedNetwork = (name: string, view: View): ProgrammedNetwork | undefined => {
  const network = view.network(name);
  if (network === undefined || !view.isNetworkHere(name)) return undefined;
  const subnets = localSubnets(network, view);
  return subnets.length === 0 && !hasNoSubnets(network) ? undefined : { network, subnets };
};

/** The default network, or a primary one. Undefined of others too. */
export const routedNetwork = (name: string, view: View): RoutedNetwork | undefined => {
  const found = programmedNetwork(name, view);
  return found !== undefined && isRouted(found.network) ? { ...found, network: found.network } : undefined;
};

/** Of a namespace whose pods have one; there need not be a network of that name yet. */
export const primaryNetworkName = (namespace: string, view: View): string | undefined =>
  view.namespace(namespace)?.wantsPrimaryNetwork === true ? view.primaryNad(namespace)?.network : undefined;

/** Of the switch with the network's pods on the node. */
export const podSwitchName = ({ name, topology }: Pick<NetworkFact, 'name' | 'topology'>, node: string): string =>
  SWITCH_NAMES[topology](name, node);

const SWITCH_NAMES: Readonly<Record<NetworkFact['topology'], (network: string, node: string) => string>> = {
  layer2: layer2SwitchName,
  layer3: nodeSwitchName,
  localnet: localnetSwitchName,
};

const localSubnets = ({ name, topology, role, subnets, tunnelKeys }: NetworkFact, view: View): readonly Cidr[] => {
  if (topology === 'layer3') return view.nodeSubnets(view.node, name);
  // Without the keys of the other zones, no packet would find its way. A secondary network's follows from its id.
  const hasKeys = role === 'secondary' || (topology === 'layer2' && tunnelKeys.length > 0);
  return hasKeys ? subnets.map(({ cidr }) => cidr) : [];
};

/** Without IPAM. */
const hasNoSubnets = ({ role, subnets }: NetworkFact): boolean => role === 'secondary' && subnets.length === 0;

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
