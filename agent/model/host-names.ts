/** Names of links and ports of a node outside of OVN. The kernel allows 15 characters for a link (IFNAMSIZ, netdevice(7)). */
import { cudnOfNetworkName, DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import type { NetworkId } from '../../net/ids.ts';
import type { GatewayFact } from './facts.ts';
import { externalBridgePortName } from './names.ts';

export const INTEGRATION_BRIDGE = 'br-int';

/** The host's own port on a network. With ids below 4096 it has 14 characters at most. */
export const managementLinkName = (id: NetworkId): string => `${MANAGEMENT_LINK_PREFIX}${id}`;

/** The name of a ClusterUserDefinedNetwork where a link can have it, so that people and routing daemons know it. */
export const vrfName = (network: string, id: NetworkId, gateway?: Pick<GatewayFact, 'bridge' | 'uplink'>): string => {
  const wanted = cudnOfNetworkName(network);
  const taken = wanted === undefined || wanted.length > MAX_LINK_NAME || isTaken(wanted);
  return taken || wanted === gateway?.bridge || wanted === gateway?.uplink ? `mp${id}-udn-vrf` : wanted;
};

/** On the gateway bridge. ovn-controller makes it and names it by the localnet port, ovn-controller(8). */
export const patchPortName = ({ bridge, interfaceId }: GatewayFact, network: string, node: string): string => {
  const port = network === DEFAULT_NETWORK_NAME ? interfaceId : externalBridgePortName(bridge, network, node);
  return `patch-${port}-to-${INTEGRATION_BRIDGE}`;
};

const MANAGEMENT_LINK_PREFIX = 'ovn-k8s-mp';
const MAX_LINK_NAME = 15;

/** Names of the kernel, of Open vSwitch, of other networks' links, and those that physical links usually have. */
const isTaken = (name: string): boolean =>
  ['lo', 'all', DEFAULT_NETWORK_NAME, INTEGRATION_BRIDGE, 'br-ex'].includes(name) ||
  name.startsWith(MANAGEMENT_LINK_PREFIX) ||
  /^(mp[0-9]+-udn-vrf|ovs-.*|genev_sys_.*|(eth|bond|team)[0-9]+|en[opsx][0-9].*)$/.test(name);
