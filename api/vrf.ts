/** The VRF of a primary network on every node: what follows from the network alone. */
import type { NetworkId } from '../net/ids.ts';
import { cudnOfNetworkName, DEFAULT_NETWORK_NAME } from './names.ts';

/** The kernel allows 15 characters for a link (IFNAMSIZ, netdevice(7)). */
const MAX_LINK_NAME = 15;

export const INTEGRATION_BRIDGE = 'br-int';
export const MANAGEMENT_LINK_PREFIX = 'ovn-k8s-mp';

const FIRST_VRF_TABLE = 100_000;

/** The routing table of a network's VRF. It follows from the id and not from an ifindex, so it survives a reboot. */
export const vrfTable = (id: NetworkId): number => FIRST_VRF_TABLE + id;

/** The name of a ClusterUserDefinedNetwork where a link can have it, so that people and routing daemons know it. */
export const vrfName = (network: string, id: NetworkId): string => {
  const preferred = cudnOfNetworkName(network);
  return preferred === undefined || preferred.length > MAX_LINK_NAME || isTaken(preferred)
    ? numberedVrfName(id)
    : preferred;
};

export const numberedVrfName = (id: NetworkId): string => `mp${id}-udn-vrf`;

/** Names of the kernel, of Open vSwitch, of other networks' links, and those that physical links usually have. */
const isTaken = (name: string): boolean =>
  ['lo', 'all', DEFAULT_NETWORK_NAME, INTEGRATION_BRIDGE, 'br-ex'].includes(name) ||
  name.startsWith(MANAGEMENT_LINK_PREFIX) ||
  /^(mp[0-9]+-udn-vrf|ovs-.*|genev_sys_.*|(eth|bond|team)[0-9]+|en[opsx][0-9].*)$/.test(name);
