/** Routes and rules as many networks have them, and the same for ip(8). Pure. */
import type { HostItem } from '../../datapath/host/types.ts';
import { OUR_PROTOCOL, route } from '../../datapath/netlink/route/types.ts';
import { cidrFamily, parseCidr } from '../../net/cidr.ts';
import type { Family } from '../../net/ip.ts';
import { GATEWAY_BRIDGE } from '../../sandbox/plan/links.ts';

export const ROUTE_TABLE = 4711;
export const RULE_PRIORITY = 4711;
const ROUTES_OF_EACH = 10;

export const routingItems = (networks: number): HostItem[] =>
  numbers(networks).flatMap((network): HostItem[] => [
    ...prefixes(network).map(
      (dst): HostItem => ({
        kind: 'route',
        route: route({ dst: parseCidr(dst), table: ROUTE_TABLE, dev: GATEWAY_BRIDGE }),
      }),
    ),
    ...([4, 6] as const).map(
      (family): HostItem => ({
        kind: 'rule',
        rule: { family, priority: RULE_PRIORITY, fwmark: mark(network), table: ROUTE_TABLE },
      }),
    ),
  ]);

/** Lines for `ip -4 -batch` or `ip -6 -batch`, to add or to remove all of it. */
export const routingBatch = (networks: number, family: Family, verb: 'add' | 'del'): string =>
  numbers(networks)
    .flatMap((network) => [
      ...prefixes(network)
        .filter((dst) => cidrFamily(parseCidr(dst)) === family)
        .map((dst) => `route ${verb} ${dst} dev ${GATEWAY_BRIDGE} table ${ROUTE_TABLE} protocol ${OUR_PROTOCOL}`),
      `rule ${verb} priority ${RULE_PRIORITY} fwmark ${mark(network)} lookup ${ROUTE_TABLE} protocol ${OUR_PROTOCOL}`,
    ])
    .map((line) => `${line}\n`)
    .join('');

const mark = (network: number): number => 0x1000 + network;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

const prefixes = (network: number): string[] =>
  Array.from({ length: ROUTES_OF_EACH }, (_, index) =>
    index % 2 === 0
      ? `10.${index}.${network >> 4}.${(network & 15) * 16}/28`
      : `fd00:${index}:${network.toString(16)}::/48`,
  );
