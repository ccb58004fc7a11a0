/** How the record of a bridge follows what people and programs do to the links. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { type Route, routeKey } from '../../../datapath/netlink/route/types.ts';
import { addressOf, cidrFamily, prefixLength } from '../../../net/cidr.ts';
import type { Ip } from '../../../net/ip.ts';
import { isReachable } from './handover.ts';
import type { MovedAddress, MovedRoute, MoveRecord } from './move-record.ts';
import type { Portable } from './portable.ts';
import type { HostSnapshot } from './types.ts';

/**
 * What happened to the bridge's interface since it was seen last. `down`: the kernel took all routes and the IPv6 addresses
 * (net/ipv6/addrconf.c, addrconf_ifdown), and kept those of IPv4. `lost`: it took everything with the interface.
 */
export type Interruption = 'none' | 'down' | 'lost';

export interface BridgeNow extends Portable {
  /** Of other links, in the tables that were read. */
  readonly others: readonly Route[];
  readonly interruption: Interruption;
}

/**
 * The record for a bridge that has `now`. What an interruption took is to come back. So is a default route that went away
 * without another one in its place, on whatever link. Every other change is somebody's wish.
 */
export const follow = (record: MoveRecord, now: BridgeNow): MoveRecord =>
  now.interruption === 'none' ? followed(record, now) : restored(record, now);

const followed = (record: MoveRecord, now: BridgeNow): MoveRecord => {
  const lost = record.routes.filter(
    (route) =>
      isDefault(route) &&
      mayComeBack(route, record, now, now.others) &&
      !hasDefault([...now.routes, ...now.others], route),
  );
  return { ...record, addresses: now.addresses, routes: [...now.routes, ...lost] };
};

const restored = (record: MoveRecord, now: BridgeNow): MoveRecord => {
  const isTakenByKernel = (one: MovedAddress): boolean =>
    now.interruption === 'lost' || cidrFamily(one.address) === 6 || hasAddress(now, one);
  const kept = record.addresses.filter(isTakenByKernel);
  const addresses = [...kept, ...now.addresses.filter((one) => !hasAddress({ addresses: kept }, one))];
  const missing = record.routes.filter((route) => !hasKey(now.routes, route));
  const reach = { addresses, routes: [...now.routes, ...missing] };
  return {
    ...record,
    addresses,
    routes: [...now.routes, ...missing.filter((route) => mayComeBack(route, record, reach, now.others))],
  };
};

/** What may be put on the bridge without anybody having asked for it. The kernel has to accept it. */
export const mayComeBack = (
  route: MovedRoute,
  { addresses }: Pick<Portable, 'addresses'>,
  reach: Portable,
  others: readonly Route[],
): boolean =>
  STAYING_PROTOCOLS.has(route.protocol) &&
  isReachable(route, reach) &&
  // The address that it is from went away, too, unless it is one of another link.
  (!hasIp(addresses, route.src) || hasIp(reach.addresses, route.src)) &&
  !hasKey(others, route);

const hasKey = (routes: readonly MovedRoute[], route: MovedRoute): boolean =>
  routes.some((other) => routeKey(other) === routeKey(route));

const hasIp = (addresses: readonly MovedAddress[], ip: Ip | undefined): boolean =>
  addresses.some(({ address }) => addressOf(address) === ip);

/**
 * rtnetlink(7), `rtm_protocol`, and rtnetlink.h: kernel, boot, static, ra, dhcp. The others are those of routing daemons,
 * which put a route back themselves as long as it leads somewhere.
 */
const STAYING_PROTOCOLS: ReadonlySet<number> = new Set([2, 3, 4, 9, 16]);

/** Of the same table and family; with one next hop, with several, or one that leads nowhere. */
const hasDefault = (routes: readonly MovedRoute[], { dst, table }: MovedRoute): boolean =>
  routes.some((other) => isDefault(other) && other.table === table && cidrFamily(other.dst) === cidrFamily(dst));

export const othersThan = (bridge: string, { routes }: HostSnapshot): readonly Route[] =>
  routes.filter(({ dev }) => dev !== bridge);

/**
 * The record when there is something on the NIC of a bridge, which is somebody's wish for the node; undefined when that
 * changes nothing. What the NIC got while the bridge has nothing (the node has booted) is all that there is; otherwise it
 * is more.
 */
export const refresh = (record: MoveRecord, nic: Portable, bridge: BridgeNow): MoveRecord | undefined => {
  const isNews = lacks(record, nic);
  if (!isNews && (record.phase === 'moving' || isEmpty(nic))) return undefined;
  const isFresh = nic.addresses.length > 0 && bridge.addresses.length === 0;
  if (isFresh) return { ...record, phase: 'moving', addresses: nic.addresses, routes: nic.routes };
  const base = record.phase === 'moving' ? record : follow(record, bridge);
  return {
    ...base,
    phase: 'moving',
    addresses: [...base.addresses, ...nic.addresses.filter((one) => !hasAddress(base, one))],
    // The NIC's are the newer ones.
    routes: [...base.routes.filter((one) => !hasKey(nic.routes, one)), ...nic.routes],
  };
};

/** `has` lacks something of `wanted`. */
export const lacks = (has: Portable, desired: Portable): boolean =>
  desired.addresses.some((one) => !hasAddress(has, one)) || desired.routes.some((one) => !includes(has.routes, one));

const isEmpty = ({ addresses, routes }: Portable): boolean => addresses.length === 0 && routes.length === 0;

const hasAddress = ({ addresses }: Pick<Portable, 'addresses'>, { address }: MovedAddress): boolean =>
  addresses.some((one) => one.address === address);

const includes = (all: readonly object[], desired: object): boolean =>
  all.some((one) => isDeepStrictEqual(one, desired));

const isDefault = ({ dst }: MovedRoute): boolean => prefixLength(dst) === 0;
