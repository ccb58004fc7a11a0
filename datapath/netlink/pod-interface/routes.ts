import { type Cidr, cidrContainsIp, defaultRoute, networkOfInterface } from '../../../net/cidr.ts';
import { type Ip, ipFamily, isLinkLocal6 } from '../../../net/ip.ts';
import { type Route, route } from '../route/types.ts';
import type { PodInterface } from './types.ts';

/** The routes of an interface in the pod's main table, the default routes last. */
export const routesOf = ({ name: dev, addresses, routes, defaultGateways, defaultRouteMtu }: PodInterface): Route[] => {
  const networks = addresses.map(networkOfInterface);
  return [
    ...routes,
    ...defaultGateways.map((via) => ({ dst: defaultRoute(ipFamily(via)), via, mtu: defaultRouteMtu })),
  ].map(({ dst, via, mtu }) => route({ dst, dev, ...nextHop(networks, via), ...(mtu === undefined ? {} : { mtu }) }));
};

/** The kernel refuses a next hop outside of the link's networks unless a flag says that it is there. */
const nextHop = (networks: readonly Cidr[], via: Ip | undefined): Pick<Route, 'via' | 'onlink'> => {
  if (via === undefined) return {};
  return isLinkLocal6(via) || networks.some((network) => cidrContainsIp(network, via))
    ? { via }
    : { via, onlink: true };
};
