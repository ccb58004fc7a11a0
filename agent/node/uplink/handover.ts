/**
 * Moves addresses and routes from one link to another. Pure: one call gives the next batch, for what is there now.
 *
 * Everything is put on the new link before anything is taken off the old one. In between both have it, so that neither
 * the kernel's "no address, no routes" nor the end of this process leaves the node without. A route with the same
 * destination and metric is replaced where it is, without a moment in which there is none.
 */
import type { KernelOp } from '../../../datapath/netlink/kernel/types.ts';
import { type Route, routeKey, sameRoute } from '../../../datapath/netlink/route/types.ts';
import { cidrContainsIp, networkOfInterface, prefixLength } from '../../../net/cidr.ts';
import { isLinkLocal6 } from '../../../net/ip.ts';
import type { MovedAddress, MovedRoute } from './move-record.ts';
import type { Portable } from './portable.ts';
import type { HostSnapshot } from './types.ts';

export interface Handover extends Portable {
  readonly from: string | undefined;
  readonly to: string;
}

/** Empty: done. */
export const nextHandover = (handover: Handover, host: HostSnapshot): readonly KernelOp[] => {
  const puts = missingOn(handover, host);
  return puts.length > 0 ? puts : leftOn(handover, host);
};

const missingOn = ({ from, to, addresses, routes }: Handover, host: HostSnapshot): KernelOp[] => {
  const isDown = host.links.some(({ name, up }) => name === to && !up);
  return [
    ...(isDown ? [{ op: 'link.set', name: to, change: { up: true } } as const] : []),
    ...addresses
      .filter((address) => !hasAddress(host, to, address))
      .map((address) => ({ op: 'address.put', address: { ...address, link: to } }) as const),
    ...inOrder(routes)
      .map((route): Route => ({ ...route, dev: to }))
      .filter((route) => !host.routes.some((other) => other.dev === to && sameRoute(route, other)))
      .filter((route) => !isTaken(route, [from, to], host))
      .map((route) => ({ op: 'route.put', route }) as const),
  ];
};

/** Another link has one of its key instead, which putting it would replace. */
const isTaken = (route: Route, ends: readonly (string | undefined)[], { routes }: HostSnapshot): boolean => {
  const same = routes.filter((other) => routeKey(other) === routeKey(route));
  return same.length > 0 && !same.some(({ dev }) => dev !== undefined && ends.includes(dev));
};

const leftOn = ({ from, addresses, routes }: Handover, host: HostSnapshot): KernelOp[] => {
  if (from === undefined) return [];
  return [
    ...host.routes
      .filter((route) => route.dev === from && routes.some((moved) => routeKey(moved) === routeKey(route)))
      .map((route) => ({ op: 'route.delete', route }) as const),
    // With the first IPv4 address of a network the kernel takes away the others: the last goes first.
    ...addresses
      .filter((address) => hasAddress(host, from, address))
      .toReversed()
      .map((address) => ({ op: 'address.delete', address: { ...address, link: from } }) as const),
  ];
};

const hasAddress = (host: HostSnapshot, link: string, { address }: MovedAddress): boolean =>
  host.addresses.some((other) => other.link === link && other.address === address);

/** What makes next hops reachable comes before what has them; default routes are the last. */
const inOrder = (routes: readonly MovedRoute[]): readonly MovedRoute[] => routes.toSorted((a, b) => rank(a) - rank(b));

const rank = ({ dst, via }: MovedRoute): number => {
  if (via === undefined && prefixLength(dst) > 0) return 0;
  return prefixLength(dst) > 0 ? 1 : 2;
};

/** Its next hop is on a network of one of the addresses, or one of the routes says that it is on the link. */
export const isReachable = ({ via, onlink }: MovedRoute, { addresses, routes }: Portable): boolean =>
  via === undefined ||
  onlink === true ||
  isLinkLocal6(via) ||
  addresses.some(({ address }) => cidrContainsIp(networkOfInterface(address), via)) ||
  routes.some((other) => other.via === undefined && cidrContainsIp(other.dst, via));
