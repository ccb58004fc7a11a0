/** Names of links and ports of a node outside of OVN. The kernel allows 15 characters for a link (IFNAMSIZ, netdevice(7)). */
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import {
  INTEGRATION_BRIDGE,
  MANAGEMENT_LINK_PREFIX,
  vrfName as networkVrfName,
  numberedVrfName,
} from '../../api/vrf.ts';
import type { NetworkId } from '../../net/ids.ts';
import type { GatewayFact } from './facts.ts';
import { externalBridgePortName, localnetPortName } from './names.ts';

export { INTEGRATION_BRIDGE };

/** The host's own port on a network. With ids below 4096 it has 14 characters at most. */
export const managementLinkName = (id: NetworkId): string => `${MANAGEMENT_LINK_PREFIX}${id}`;

/** As everywhere, unless this node's own gateway has the name. */
export const vrfName = (network: string, id: NetworkId, gateway?: Pick<GatewayFact, 'bridge' | 'uplink'>): string => {
  const preferred = networkVrfName(network, id);
  return preferred === gateway?.bridge || preferred === gateway?.uplink ? numberedVrfName(id) : preferred;
};

/** On the gateway bridge. ovn-controller makes it and names it by the localnet port, ovn-controller(8). */
export const patchPortName = ({ bridge, interfaceId }: GatewayFact, network: string, node: string): string => {
  const port = network === DEFAULT_NETWORK_NAME ? interfaceId : externalBridgePortName(bridge, network, node);
  return `patch-${port}-to-${INTEGRATION_BRIDGE}`;
};

/** On the bridge that a localnet's physical network is mapped to, while a pod of it is on the node. */
export const localnetPatchPortName = (network: string): string =>
  `patch-${localnetPortName(network)}-to-${INTEGRATION_BRIDGE}`;
