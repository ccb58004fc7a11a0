/**
 * Reads an entry of `k8s.ovn.org/pod-networks` as programs write it. Where a cluster's pods are all read at once, the schema
 * is most of the time that this takes; it has the last word on every entry that looks different.
 */
import { memo } from '../../base/memo.ts';
import {
  type Cidr,
  cidrFamily,
  type InterfaceAddress,
  parseCidr,
  parseInterfaceAddress,
  prefixLength,
} from '../../net/cidr.ts';
import { type PortKey, parsePortKey } from '../../net/ids.ts';
import { type Ip, ipFamily, isLinkLocal6, parseIp } from '../../net/ip.ts';
import { isUnicastMac, parseMac } from '../../net/mac.ts';
import { type Fields, list, map, oneOf, text, unusual, usual } from '../usual.ts';
import type { PodNetworkEntry, PodNetworkRole, PodRoute } from './pod-networks.ts';

/** @returns what the schema makes of it, or undefined: for the schema to decide */
export const usualPodNetworkEntry = usual((value) => read(map(value)));

const read = (fields: Fields): PodNetworkEntry => {
  const mac = parseMac(text(fields['mac_address']));
  return {
    ipAddresses: listOrOne(fields['ip_addresses'], fields['ip_address'], parseInterfaceAddress),
    mac: isUnicastMac(mac) ? mac : unusual(),
    gatewayIps: listOrOne(fields['gateway_ips'], fields['gateway_ip'], commonIp),
    routes: list(fields['routes']).map(readRoute),
    ipv6LlaGatewayIp: linkLocal(fields['ipv6_lla_gateway_ip']),
    tunnelId: tunnelId(fields['tunnel_id']),
    role: role(fields['role']),
  };
};

/** What all pods of a network have in common. */
const MAX_REMEMBERED = 1024;
const commonIp = memo(parseIp, MAX_REMEMBERED);
const commonCidr = memo(parseCidr, MAX_REMEMBERED);

/** One that is written beside a list is the first of it. */
const listOrOne = <Item extends Ip | InterfaceAddress>(
  many: unknown,
  one: unknown,
  parse: (item: string) => Item,
): readonly Item[] => {
  const items = list(many).map((item) => parse(text(item)));
  const single = isAbsent(one) ? undefined : parse(text(one));
  if (items.length === 0) return single === undefined ? items : [single];
  return single === undefined || single === items[0] ? items : unusual();
};

const readRoute = (value: unknown): PodRoute => {
  const { dest: network, nextHop: hop } = map(value);
  const dest: Cidr = commonCidr(text(network));
  const nextHop = isAbsent(hop) ? undefined : commonIp(text(hop));
  const isUnusual = prefixLength(dest) === 0 || (nextHop !== undefined && ipFamily(nextHop) !== cidrFamily(dest));
  return isUnusual ? unusual() : { dest, nextHop };
};

const linkLocal = (value: unknown): Ip | undefined => {
  if (isAbsent(value)) return undefined;
  const ip = commonIp(text(value));
  return isLinkLocal6(ip) ? ip : unusual();
};

const tunnelId = (value: unknown): PortKey | undefined => {
  if (isAbsent(value)) return undefined;
  return typeof value === 'number' && Number.isFinite(value) ? parsePortKey(value) : unusual();
};

const roleOf = oneOf<PodNetworkRole>(['primary', 'secondary', 'infrastructure-locked']);

const role = (value: unknown): PodNetworkRole | undefined => (isAbsent(value) ? undefined : roleOf(value));

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '' || value === 0;
