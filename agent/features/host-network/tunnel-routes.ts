/**
 * Routes that ovs-vswitchd looks up for its tunnels, once more where it reads first (ADR 69). On the userspace datapath it keeps a copy of
 * the kernel's tables `default`, `main` and `local`, and empties and reads it in that order after every change of any link
 * (`lib/route-table.c`, `route_table_reset`). What is translated meanwhile finds no route to the other node, or not the tunnel's own
 * address, and is dropped. The kernel comes to `default` last, for IPv4 only (ip-rule(8)), when `local` and `main` have nothing: for these
 * two it never does.
 */
import type { HostItem } from '../../../datapath/host/types.ts';
import { addressOf, hostRoute, networkOfInterface } from '../../../net/cidr.ts';
import { TUNNEL_ROUTE_TABLE } from '../../model/registry/routing.ts';
import type { View } from '../../model/view.ts';
import { routeItem } from './items.ts';

/** Of tunnels that end at the gateway bridge. None on the kernel's datapath, whose tunnels go by the kernel's own routes. */
export const tunnelRoutes = (view: View): HostItem[] => {
  const gateway = view.gateway(view.node);
  if (gateway === undefined || gateway.cannotAdvertise === true) return [];
  const shared = { table: TUNNEL_ROUTE_TABLE, dev: gateway.bridge };
  const own = gateway.addresses.filter((address) => view.encapIps.includes(addressOf(address)));
  // A table has one route to a network, whichever of the addresses is its source: tunnels have their own.
  const sources = new Map(own.toReversed().map((address) => [networkOfInterface(address), addressOf(address)]));
  return [
    ...own.map((address) => routeItem({ ...shared, type: 'local', dst: hostRoute(addressOf(address)) })),
    ...[...sources].toReversed().map(([dst, src]) => routeItem({ ...shared, dst, src })),
  ];
};
