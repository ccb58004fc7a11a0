/**
 * What a host-network pod is for pods of the default network: its node, as nothing in a packet tells processes of a node apart. Not the address
 * of the node's gateway router: whoever comes from outside through a node port has that, too.
 */
import { DEFAULT_NETWORK_NAME } from '../../../api/names.ts';
import { addressOf } from '../../../net/cidr.ts';
import type { Ip } from '../../../net/ip.ts';
import type { View } from '../../model/view.ts';
import { managementPeers } from './admin/management-peers.ts';

export type HostView = Pick<View, 'node' | 'network' | 'nodeSubnets' | 'hostAddresses'>;

/** Sorted, each once. */
export const hostPeers = (node: string, view: HostView): readonly Ip[] => [
  ...new Set(
    [...managementPeers([node], DEFAULT_NETWORK_NAME, view), ...view.hostAddresses(node).map(addressOf)].sort(),
  ),
];
