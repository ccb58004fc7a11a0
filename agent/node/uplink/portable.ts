/** Which addresses and routes of a link go with the node when its traffic moves to another link. Pure. */
import { KERNEL_PROTOCOL, OUR_PROTOCOL, type Route } from '../../../datapath/netlink/route/types.ts';
import { addressOf, type Cidr, cidrContainsIp, networkOfInterface } from '../../../net/cidr.ts';
import type { MovedAddress, MovedRoute } from './move-record.ts';
import type { HostSnapshot } from './types.ts';

export interface Portable {
  readonly addresses: readonly MovedAddress[];
  readonly routes: readonly MovedRoute[];
}

/** rtnetlink(7): the table of the kernel's own entries. */
const LOCAL_TABLE = 255;

/**
 * Global addresses and what routes somebody made. Not what the kernel makes by itself (link-local addresses, routes to
 * the networks of addresses), and not what is ours: masquerade addresses and routes with our protocol number.
 */
export const portableOf = (host: HostSnapshot, link: string, masqueradeSubnets: readonly Cidr[]): Portable => {
  const isOurs = ({ address }: MovedAddress): boolean =>
    masqueradeSubnets.some((subnet) => cidrContainsIp(subnet, addressOf(address)));
  const addresses = host.addresses
    .filter((one) => one.link === link && one.scope === 'global')
    .map(({ link: _, scope: __, state: ___, ...address }): MovedAddress => address)
    .filter((address) => !isOurs(address));
  const routes = host.routes
    .filter((route) => route.dev === link && isMade(route, addresses))
    .map(({ dev: _, ...route }): MovedRoute => route);
  return { addresses, routes };
};

const isMade = (route: Route, addresses: readonly MovedAddress[]): boolean => {
  if (route.type !== 'unicast' || route.table === LOCAL_TABLE || route.protocol === OUR_PROTOCOL) return false;
  if (route.protocol !== KERNEL_PROTOCOL) return true;
  // Network managers take the kernel's number for the routes that they make in its place.
  return addresses.some((one) => one.noPrefixRoute === true && networkOfInterface(one.address) === route.dst);
};
