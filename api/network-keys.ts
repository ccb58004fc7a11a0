/** Tunnel keys and node addresses that derive from ids, the same on every node. */
import { type Cidr, type InterfaceAddress, interfaceAddressAt } from '../net/cidr.ts';
import { type DatapathKey, MAX_NETWORKS, type NetworkId, type NodeId, parseDatapathKey } from '../net/ids.ts';

/** Key of the default network's transit switch. OVN itself allocates from below, interconnection from here. */
const FIRST_NETWORK_KEY = 16_711_683;

/** First of the keys that do not derive from a network id: they are given out by the cluster manager. */
export const FIRST_ALLOCATED_KEY = FIRST_NETWORK_KEY + MAX_NETWORKS;
export const LAST_ALLOCATED_KEY = 2 ** 24 - 1;

/** Key of a network's datapath that spans the nodes: a transit switch, or the switch of a layer-2 network. */
export const networkDatapathKey = (id: NetworkId): DatapathKey => parseDatapathKey(FIRST_NETWORK_KEY + id);

/** A node's addresses on the transit switches, one per transit subnet: the subnet's address at the node's id. */
export const nodeTransitAddresses = (transitSubnets: readonly Cidr[], node: NodeId): readonly InterfaceAddress[] =>
  transitSubnets.map((subnet) => interfaceAddressAt(subnet, node));
