/** Tunnel keys and node addresses that derive from ids, the same on every node. */
import {
  addressAt,
  type Cidr,
  cidrFamily,
  cidrSize,
  type InterfaceAddress,
  interfaceAddress,
  interfaceAddressAt,
} from '../net/cidr.ts';
import { type DatapathKey, MAX_NETWORKS, type NetworkId, type NodeId, parseDatapathKey } from '../net/ids.ts';
import { addressBits } from '../net/ip.ts';

/** Key of the default network's transit switch. OVN itself allocates from below, interconnection from here. */
const FIRST_NETWORK_KEY = 16_711_683;

/** First of the keys that the cluster manager assigns to transit routers: those of ids, then those that follow from none. */
export const FIRST_ALLOCATED_KEY = FIRST_NETWORK_KEY + MAX_NETWORKS;
export const LAST_ALLOCATED_KEY = 2 ** 24 - 1;

/** Key of a network's datapath that spans the nodes: a transit switch, or the switch of a layer-2 network. */
export const networkDatapathKey = (id: NetworkId): DatapathKey => parseDatapathKey(FIRST_NETWORK_KEY + id);

/** Key of the transit router of a network that has one, unless it got another before keys followed from ids. */
export const usualRouterKey = (id: NetworkId): DatapathKey => parseDatapathKey(FIRST_ALLOCATED_KEY + id - 1);

/** A node's addresses on the transit switches, one per transit subnet: the subnet's address at the node's id. */
export const nodeTransitAddresses = (transitSubnets: readonly Cidr[], node: NodeId): readonly InterfaceAddress[] =>
  transitSubnets.map((subnet) => interfaceAddressAt(subnet, node));

/** Both ends of the link between a layer-2 network's transit router and a node's gateway router: a /31 or a /127. */
export interface LinkAddresses {
  readonly transitRouter: InterfaceAddress;
  readonly gatewayRouter: InterfaceAddress;
}

/** The node's pair in each transit subnet. Undefined when a subnet is too small for the node's id. */
export const nodeLinkAddresses = (
  transitSubnets: readonly Cidr[],
  node: NodeId,
): readonly LinkAddresses[] | undefined => {
  const last = BigInt(2 * node + 1);
  if (transitSubnets.some((subnet) => cidrSize(subnet) <= last)) return undefined;
  return transitSubnets.map((subnet) => {
    const length = addressBits(cidrFamily(subnet)) - 1;
    return {
      transitRouter: interfaceAddress(addressAt(subnet, last - 1n), length),
      gatewayRouter: interfaceAddress(addressAt(subnet, last), length),
    };
  });
};

/** The cluster router's addresses on the join switch, one per join subnet. */
export const routerJoinAddresses = (joinSubnets: readonly Cidr[]): readonly InterfaceAddress[] =>
  joinSubnets.map((subnet) => interfaceAddressAt(subnet, 1));

/**
 * The addresses of a node's gateway router inside of the network, one per join subnet. Undefined when a subnet is too small
 * for the node's id: the last address is not used, IPv4 broadcasts go there.
 */
export const nodeJoinAddresses = (
  joinSubnets: readonly Cidr[],
  node: NodeId,
): readonly InterfaceAddress[] | undefined =>
  joinSubnets.some((subnet) => cidrSize(subnet) - 1n <= node)
    ? undefined
    : joinSubnets.map((subnet) => interfaceAddressAt(subnet, node));
