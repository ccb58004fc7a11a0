/** Routes to and from bytes (rtnetlink(7), RTM_*ROUTE). */
import { addressOf, cidrFamily, prefixLength } from '../../../net/cidr.ts';
import { type Family, type Ip, ipFamily, ipToBytes } from '../../../net/ip.ts';
import { netlinkFault } from '../errors.ts';
import {
  type Attributes,
  attribute,
  nested,
  numberAttribute,
  readAttributes,
  readNested,
  readNumber,
} from '../wire/attributes.ts';
import { formatRoute, MessageType, parseRoute } from '../wire/codec.ts';
import { NLM_F, RT_SCOPE, RT_TABLE_BYTE_LIMIT, RTA, RTAX_MTU, RTNH_F_ONLINK } from '../wire/constants.ts';
import { cidrFromBytes, familyNumber, familyOfNumber, ipFromBytes } from '../wire/ip-bytes.ts';
import type { NamedRequest } from '../wire/socket.ts';
import { type DecodedHop, readHops } from './multipath.ts';
import type { NextHop, Route, RouteType } from './types.ts';

/** The routes of a family as a dump; of one table and of one maker if they are named. */
export const getRoutes = (family: Family, table?: number, protocol = 0): NamedRequest => ({
  type: MessageType.GETROUTE,
  flags: 0,
  payload: Buffer.concat([
    formatRoute({ family: familyNumber(family), protocol }),
    ...(table === undefined ? [] : [numberAttribute(RTA.TABLE, table)]),
  ]),
  subject: `list IPv${family} routes${table === undefined ? '' : ` of table ${table}`}`,
});

/** Adds it, or replaces the one of the same key (`routeKey`). */
export const putRoute = (route: Route, index: number | undefined): NamedRequest => ({
  type: MessageType.NEWROUTE,
  flags: NLM_F.CREATE | NLM_F.REPLACE,
  payload: payload(route, index, scopeOf(route)),
  subject: `put ${words(route)}`,
});

/** Names all that is known of the route, protocol included, so that a route of somebody else with its key stays. */
export const deleteRoute = (route: Route, index: number | undefined): NamedRequest => ({
  type: MessageType.DELROUTE,
  flags: 0,
  payload: payload(route, index, RT_SCOPE.NOWHERE),
  subject: `delete ${words(route)}`,
});

export interface DecodedRoute extends Omit<Route, 'dev' | 'nextHops'> {
  readonly index: number | undefined;
  readonly hops?: readonly DecodedHop[];
}

/** @param nameOf the link of an index; a route by a link that is gone is gone, too, and so is such a next hop */
export const namedRoute = (
  { index, hops, ...route }: DecodedRoute,
  nameOf: (index: number) => string | undefined,
): Route | undefined => {
  const nextHops = hops?.flatMap(({ index: on, ...hop }): NextHop[] => {
    const name = nameOf(on);
    return name === undefined ? [] : [{ ...hop, dev: name }];
  });
  if (index === undefined) return { ...route, ...optional('nextHops', nextHops) };
  const dev = nameOf(index);
  return dev === undefined ? undefined : { ...route, dev };
};

/**
 * Undefined for families and types that no one here makes, for example MPLS.
 * @throws NetlinkError ERR_NETLINK_MALFORMED
 */
export const decodeRoute = (bytes: Buffer): DecodedRoute | undefined => {
  if (bytes.length < HEADER_LENGTH) throw netlinkFault('ERR_NETLINK_MALFORMED', 'a route is cut off');
  const header = parseRoute(bytes);
  const family = familyOfNumber(header.family);
  const type = TYPES[header.type];
  if (family === undefined || type === undefined) return undefined;
  const attributes = readAttributes(bytes.subarray(HEADER_LENGTH));
  const dst = cidrFromBytes(family, attributes.get(RTA.DST), header.dstLen);
  if (dst === undefined) throw netlinkFault('ERR_NETLINK_MALFORMED', 'a route has no destination');
  const multipath = attributes.get(RTA.MULTIPATH);
  const mtu = readNumber(readNested(attributes, RTA.METRICS), RTAX_MTU);
  return {
    dst,
    table: readNumber(attributes, RTA.TABLE) ?? header.table,
    type,
    protocol: header.protocol,
    metric: readNumber(attributes, RTA.PRIORITY) ?? 0,
    // IPv6 keeps routes to nowhere on the loopback link.
    index: hasDevice(type) ? readNumber(attributes, RTA.OIF) : undefined,
    ...optional('hops', multipath && readHops(family, multipath, gatewayOf)),
    ...optional('via', gatewayOf(family, attributes)),
    ...optional('src', ipFromBytes(family, attributes.get(RTA.PREFSRC))),
    ...optional('mtu', mtu),
    ...((header.flags & RTNH_F_ONLINK) === 0 ? {} : { onlink: true }),
  };
};

const HEADER_LENGTH = 12;

/** By their number in rtnetlink.h, which begins with RTN_UNSPEC. */
const TYPES: readonly (RouteType | undefined)[] = [
  undefined,
  'unicast',
  'local',
  'broadcast',
  'anycast',
  'multicast',
  'blackhole',
  'unreachable',
  'prohibit',
  'throw',
];

const payload = (route: Route, index: number | undefined, scope: number): Buffer => {
  const { dst, table, type, protocol, metric, via, src, mtu, onlink } = route;
  const family = cidrFamily(dst);
  return Buffer.concat([
    formatRoute({
      family: familyNumber(family),
      dstLen: prefixLength(dst),
      table: table < RT_TABLE_BYTE_LIMIT ? table : 0,
      protocol,
      scope,
      type: TYPES.indexOf(type),
      flags: onlink === true ? RTNH_F_ONLINK : 0,
    }),
    numberAttribute(RTA.TABLE, table),
    ...(prefixLength(dst) === 0 ? [] : [attribute(RTA.DST, ipToBytes(addressOf(dst)))]),
    ...(metric === 0 ? [] : [numberAttribute(RTA.PRIORITY, metric)]),
    ...(via === undefined ? [] : [gatewayAttribute(family, via)]),
    ...(index === undefined ? [] : [numberAttribute(RTA.OIF, index)]),
    ...(src === undefined ? [] : [attribute(RTA.PREFSRC, ipToBytes(src))]),
    ...(mtu === undefined ? [] : [nested(RTA.METRICS, numberAttribute(RTAX_MTU, mtu))]),
  ]);
};

/** An IPv4 route may have an IPv6 next hop (RFC 5549): RTA_VIA, which begins with the family. */
const gatewayAttribute = (family: Family, via: Ip): Buffer => {
  const bytes = ipToBytes(via);
  if (ipFamily(via) === family) return attribute(RTA.GATEWAY, bytes);
  const number = new Uint8Array(Uint16Array.of(familyNumber(ipFamily(via))).buffer);
  return attribute(RTA.VIA, Buffer.concat([number, bytes]));
};

const gatewayOf = (family: Family, attributes: Attributes): Ip | undefined =>
  ipFromBytes(family, attributes.get(RTA.GATEWAY)) ?? ipFromBytes(6, attributes.get(RTA.VIA)?.subarray(2));

/** ip-route(8), `scope`: how far the destination is. IPv6 has none. */
const scopeOf = ({ type, via }: Route): number => {
  if (type === 'local') return RT_SCOPE.HOST;
  return type === 'unicast' && via === undefined ? RT_SCOPE.LINK : RT_SCOPE.UNIVERSE;
};

const hasDevice = (type: RouteType): boolean => !['blackhole', 'unreachable', 'prohibit', 'throw'].includes(type);

const optional = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });

const words = ({ dst, table, via, dev, type }: Route): string =>
  [
    type === 'unicast' ? 'route' : `${type} route`,
    dst,
    ...(via === undefined ? [] : ['via', via]),
    ...(dev === undefined ? [] : ['dev', dev]),
    `in table ${table}`,
  ].join(' ');
