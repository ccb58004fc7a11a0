import { addressOf } from '../../../net/cidr.ts';
import type { Ip } from '../../../net/ip.ts';
import type { View } from '../../model/view.ts';

/** All that others may know a node by: of its links, of its bridge, and where its tunnels end. */
export const nodeAddresses = (node: string, view: View): readonly Ip[] => [
  ...new Set([
    ...[...view.hostAddresses(node), ...(view.gateway(node)?.addresses ?? [])].map(addressOf),
    ...(view.nodeFact(node)?.encapIps ?? []),
    ...(node === view.node ? view.encapIps : []),
  ]),
];
