import { type Cidr, cidrFamily } from '../../../net/cidr.ts';
import type { Family, Ip } from '../../../net/ip.ts';

export type RouteType =
  | 'unicast'
  | 'local'
  | 'broadcast'
  | 'anycast'
  | 'multicast'
  | 'blackhole'
  | 'unreachable'
  | 'prohibit'
  | 'throw';

export interface NextHop {
  readonly dev: string;
  /** Absent when `dst` is on the link. */
  readonly via?: Ip;
}

/** A route as the kernel has it. */
export interface Route {
  readonly dst: Cidr;
  readonly table: number;
  readonly type: RouteType;
  /** Who made it: rtnetlink(7), `rtm_protocol`. */
  readonly protocol: number;
  /** 0 is the best; the kernel has no 0 for IPv6 and takes 1024 for it. */
  readonly metric: number;
  /** The next hop; absent when `dst` is on the link. */
  readonly via?: Ip;
  readonly dev?: string;
  /** Of a route with several, which has neither `via` nor `dev`. They are read only. */
  readonly nextHops?: readonly NextHop[];
  /** The source address of packets that have none yet. */
  readonly src?: Ip;
  readonly mtu?: number;
  /** `via` is reachable on `dev` although no address of it says so. */
  readonly onlink?: boolean;
}

/** Our mark on routes: the number that ovn-kubernetes uses, so that a node can move over without leftovers. */
export const OUR_PROTOCOL = 85;
/** Routes that the kernel makes for addresses. */
export const KERNEL_PROTOCOL = 2;
export const MAIN_TABLE = 254;

const IPV6_DEFAULT_METRIC = 1024;

/** A route with the kernel's defaults filled in, ours unless it says otherwise, so that it compares with a dumped one. */
export const route = (desired: Pick<Route, 'dst'> & Partial<Route>): Route => ({
  table: MAIN_TABLE,
  type: 'unicast',
  protocol: OUR_PROTOCOL,
  ...desired,
  metric: kernelMetric(cidrFamily(desired.dst), desired.metric ?? 0),
});

/** A table holds one route per key: adding another one replaces it. */
export const routeKey = ({ table, dst, metric }: Route): string => `${table} ${dst} ${metric}`;

/** True when nothing has to be done to make one of the other. */
export const sameRoute = (a: Route, b: Route): boolean =>
  routeKey(a) === routeKey(b) &&
  a.type === b.type &&
  a.protocol === b.protocol &&
  a.via === b.via &&
  a.dev === b.dev &&
  a.src === b.src &&
  a.mtu === b.mtu &&
  (a.onlink ?? false) === (b.onlink ?? false);

const kernelMetric = (family: Family, metric: number): number =>
  family === 6 && metric === 0 ? IPV6_DEFAULT_METRIC : metric;
