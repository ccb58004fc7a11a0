/** Default routes in the network namespace of a pod, where plugins of other networks make routes as well. */
import { CniError } from '../../../api/cni/error.ts';
import type { KernelOp } from '../../../datapath/netlink/kernel/types.ts';
import type { Netlink } from '../../../datapath/netlink/netlink.ts';
import { MAIN_TABLE, type Route, route } from '../../../datapath/netlink/route/types.ts';
import { cidrFamily, defaultRoute, prefixLength } from '../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { DefaultRoute } from '../../model/attachments.ts';

export interface PodRoutes {
  /**
   * The pod has these default routes, and no other of their families.
   * @param advertised interfaces on which a router may advertise itself: it does not become the default route there
   * @throws CniError
   */
  give(netns: string, desired: DefaultRoute, advertised: readonly string[]): Promise<void>;
  /** Those that are not there, one message each. */
  missing(netns: string, desired: DefaultRoute): Promise<readonly string[]>;
}

export const podRoutes = (netlink: Pick<Netlink, 'read' | 'apply'>): PodRoutes => ({
  give: async (netns, desired, advertised) => {
    const present = await defaultRoutes(netlink, netns, desired);
    const ops: readonly KernelOp[] = [
      ...settingsOf(desired, advertised),
      ...present
        .flatMap((one) => staleParts(one, desired))
        .map((one): KernelOp => ({ op: 'route.delete', route: one })),
      ...lacking(present, desired).map((via): KernelOp => ({ op: 'route.put', route: routeOf(desired, via) })),
    ];
    const failures = await netlink.apply({ netns, ops });
    if (failures.length === 0) return;
    const messages = failures.map(({ error }) => error.message).join('; ');
    throw new CniError('internal', `default-route: ${messages}`, { cause: failures[0]?.error });
  },
  missing: async (netns, desired) =>
    lacking(await defaultRoutes(netlink, netns, desired), desired).map(
      (via) => `${desired.interfaceName} should have a route to ${defaultRoute(ipFamily(via))} via ${via}`,
    ),
});

const defaultRoutes = async (
  netlink: Pick<Netlink, 'read'>,
  netns: string,
  { gateways }: DefaultRoute,
): Promise<readonly Route[]> => {
  const asked = gateways.map((via) => ({ family: ipFamily(via), table: MAIN_TABLE }));
  const { routes } = await netlink.read({ netns, routes: asked });
  return routes.filter(({ dst, type }) => prefixLength(dst) === 0 && type === 'unicast');
};

const routeOf = ({ interfaceName: dev }: DefaultRoute, via: Ip): Route =>
  route({ dst: defaultRoute(ipFamily(via)), dev, via });

/** Of the interface's own plugin, too, when it has made the same. */
const isDesired = (hop: Pick<Route, 'dev' | 'via'>, { interfaceName, gateways }: DefaultRoute): boolean =>
  hop.dev === interfaceName && gateways.some((via) => via === hop.via);

const lacking = (present: readonly Route[], desired: DefaultRoute): readonly Ip[] => {
  const lasting = present.flatMap((one) => partsOf(one).filter((part) => isDesired(part, desired)));
  return desired.gateways.filter((via) => !lasting.some((part) => part.via === via));
};

const staleParts = (one: Route, desired: DefaultRoute): readonly Route[] =>
  partsOf(one).filter((part) => !isDesired(part, desired));

/**
 * What goes by itself: a second default route of IPv6 with the same metric becomes a next hop of the first, whoever has made it. One of
 * IPv4 with several next hops goes as a whole.
 */
const partsOf = ({ nextHops, ...one }: Route): readonly Route[] =>
  nextHops === undefined || cidrFamily(one.dst) === 4
    ? [one]
    : nextHops.map((hop) => ({ ...one, ...hop, protocol: ANYBODY }));

const ANYBODY = 0;

/** Own interfaces hear no router advertisements at all. */
const settingsOf = ({ gateways }: DefaultRoute, advertised: readonly string[]): readonly KernelOp[] =>
  gateways.some((via) => ipFamily(via) === 6)
    ? advertised.map((name) => ({
        ...{ op: 'sysctl.set', key: `ipv6/conf/${name}/accept_ra_defrtr`, value: '0', ifPresent: true },
      }))
    : [];
