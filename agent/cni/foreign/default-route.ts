/** `default-route` on networks of other plugins (multi-net-spec v1.3, 4.1.2.1.9): what it needs of a result, and what becomes of results. Pure. */
import type { CniResult } from '../../../api/cni/result.ts';
import { MAIN_TABLE } from '../../../datapath/netlink/route/types.ts';
import {
  addressOf,
  cidrContainsIp,
  cidrFamily,
  type InterfaceAddress,
  networkOfInterface,
  prefixLength,
} from '../../../net/cidr.ts';
import { type Family, type Ip, ipFamily, isLinkLocal6 } from '../../../net/ip.ts';
import type { DefaultRoute } from '../../model/attachments.ts';

/** Where in `interfaces` the end in the pod is; −1: the plugin has not reported it. */
export const placeInPod = ({ interfaces }: Pick<CniResult, 'interfaces'>, interfaceName: string): number =>
  interfaces.findIndex(({ name, sandbox }) => sandbox !== undefined && name === interfaceName);

/** Of the end in the pod: a plugin may report the bridge of the host as well. */
export const addressesInPod = (result: CniResult, interfaceName: string): readonly InterfaceAddress[] => {
  const place = placeInPod(result, interfaceName);
  return result.ips.flatMap((ip) => (ip.interface === undefined || ip.interface === place ? [ip.address] : []));
};

/** Why the interface cannot have the route, without a full stop: packets would have no way to a gateway of another network. */
export const unreachableGateway = (
  { interfaceName, gateways }: DefaultRoute,
  result: CniResult,
): string | undefined => {
  const addresses = addressesInPod(result, interfaceName);
  const isNear = (gateway: Ip): boolean =>
    addresses.some((address) => cidrFamily(address) === ipFamily(gateway)) &&
    (isLinkLocal6(gateway) || addresses.some((address) => cidrContainsIp(networkOfInterface(address), gateway)));
  const own = gateways.find((gateway) => addresses.some((address) => addressOf(address) === gateway));
  if (own !== undefined) return `default-route: gateway ${own} is the address of ${interfaceName} itself`;
  const far = gateways.find((gateway) => !isNear(gateway));
  if (far === undefined) return undefined;
  const has = addresses.length === 0 ? 'no address' : addresses.join(', ');
  return `default-route: gateway ${far} is in no network of ${interfaceName}, to which the plugin has given ${has}`;
};

/**
 * A result as the plugins get it in CHECK and DEL, once the default routes are those that the pod asks for: plugins look whether the
 * routes that they have made are there. Multus edits the results that libcni keeps in the same way.
 * @param result as its plugin wrote it: fields that we do not know are the plugins'
 * @param parsed the same
 * @param families whose default route the pod has asked for
 * @param gateways that this interface has; none where another one has them
 */
export const withDefaultRoutes = (
  result: unknown,
  parsed: Pick<CniResult, 'routes'>,
  { families, gateways }: { readonly families: readonly Family[]; readonly gateways: readonly Ip[] },
): unknown => {
  const written: unknown = typeof result === 'object' && result !== null && 'routes' in result ? result.routes : [];
  const routes: readonly unknown[] = Array.isArray(written) ? written : [];
  const isTaken = (index: number): boolean => {
    const { dst } = parsed.routes[index] ?? {};
    return (
      dst !== undefined && prefixLength(dst) === 0 && families.includes(cidrFamily(dst)) && isInMain(routes[index])
    );
  };
  const kept = routes.filter((_, index) => !isTaken(index));
  const own = gateways.map((gw) => ({ dst: ipFamily(gw) === 4 ? '0.0.0.0/0' : '::/0', gw }));
  if (own.length === 0 && kept.length === routes.length) return result;
  return { ...Object(result), routes: [...kept, ...own] };
};

/** Since CNI 1.1.0 a route may be in another table, which no packet looks into without a rule. */
const isInMain = (route: unknown): boolean => {
  const table: unknown = typeof route === 'object' && route !== null ? Reflect.get(route, 'table') : undefined;
  return typeof table !== 'number' || table === 0 || table === MAIN_TABLE;
};
