/** What the node's own network stack says about the node. Pure. */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import type { Link } from '../../datapath/netlink/link/types.ts';
import { MAIN_TABLE, type Route } from '../../datapath/netlink/route/types.ts';
import {
  addressOf,
  cidrContainsIp,
  cidrFamily,
  type InterfaceAddress,
  networkOfInterface,
  prefixLength,
} from '../../net/cidr.ts';
import { FAMILIES, type Family, type Ip, ipFamily, isLinkLocal6 } from '../../net/ip.ts';
import { linkLocalFromMac } from '../../net/mac.ts';
import type { GatewayFact } from '../model/facts.ts';
import type { GatewayOptions, HostSnapshot } from './uplink/types.ts';

export interface HostViewInputs {
  readonly node: string;
  readonly options: GatewayOptions;
  readonly cluster: ClusterConfig;
}

export interface GatewayBridge {
  readonly bridge: string;
  readonly uplink: string | undefined;
}

/** @returns the gateway, or why there is none as a message without a full stop */
export const gatewayFact = (
  { node, options, cluster }: HostViewInputs,
  { bridge, uplink }: GatewayBridge,
  host: HostSnapshot,
): GatewayFact | string => {
  const { mode, vlanId } = options;
  if (mode === 'disabled') return 'gateways are disabled';
  const mac = host.links.find(({ name }) => name === bridge)?.mac;
  if (mac === undefined) return `bridge ${bridge} has no interface`;
  if (uplink === undefined && !(mode === 'local' && options.allowNoUplink)) {
    return `bridge ${bridge} does not name its uplink port (external_ids:bridge-uplink)`;
  }
  const nextHops = options.nextHops.length > 0 ? options.nextHops : defaultNextHops(host, bridge);
  const addresses = familiesOf(cluster).flatMap((family) => primaryAddress(host, bridge, family, nextHops, cluster));
  if (addresses.length === 0) return `bridge ${bridge} has no address`;
  const families = new Set(addresses.map(cidrFamily));
  const linkLocals = linkLocalsOf(host, bridge).filter((ip) => ip !== linkLocalFromMac(mac));
  return {
    mode,
    bridge,
    interfaceId: `${bridge}_${node}`,
    mac,
    addresses,
    nextHops: nextHops.filter((ip) => families.has(ipFamily(ip))),
    nodePortEnable: true,
    vlanId,
    uplink,
    ...(linkLocals.length > 0 && { linkLocals }),
  };
};

const linkLocalsOf = ({ addresses }: HostSnapshot, bridge: string): Ip[] =>
  addresses
    .filter(({ link }) => link === bridge)
    .map(({ address }) => addressOf(address))
    .filter(isLinkLocal6)
    .sort();

/**
 * All addresses of the host that others may use: not those that are only valid on a link or on this node, and not those
 * that it has on networks of pods.
 */
export const hostAddresses = ({ cluster }: Pick<HostViewInputs, 'cluster'>, host: HostSnapshot): InterfaceAddress[] => {
  const families = familiesOf(cluster);
  const usable = host.addresses
    .filter(({ link, scope }) => scope !== 'host' && scope !== 'link' && !link.startsWith(MANAGEMENT_PREFIX))
    .map(({ address }) => address)
    .filter((address) => families.includes(cidrFamily(address)) && isUsable(addressOf(address), cluster));
  return [...new Set(usable)].sort();
};

/** `ovn-k8s-mp0`, `ovn-k8s-mp<id>` */
export const MANAGEMENT_PREFIX = 'ovn-k8s-mp';

/** The link that has one of the addresses. */
export const linkOfAddress = (host: HostSnapshot, ip: Ip): Link | undefined => {
  const name = host.addresses.find(({ address }) => addressOf(address) === ip)?.link;
  return host.links.find((link) => link.name === name);
};

/** Those of the default network: a family without pods has no gateway. */
const familiesOf = ({ clusterSubnets }: ClusterConfig): Family[] =>
  FAMILIES.filter((family) => clusterSubnets.some(({ cidr }) => cidrFamily(cidr) === family));

/** As the node is known by: the one on the network of the next hop, else the first. */
const primaryAddress = (
  host: HostSnapshot,
  bridge: string,
  family: Family,
  nextHops: readonly Ip[],
  cluster: ClusterConfig,
): InterfaceAddress[] => {
  const own = host.addresses
    .filter(({ link, scope, deprecated }) => link === bridge && scope === 'global' && deprecated !== true)
    .map(({ address }) => address)
    .filter((address) => cidrFamily(address) === family && isUsable(addressOf(address), cluster));
  const reaching = own.find((address) => nextHops.some((ip) => cidrContainsIp(networkOfInterface(address), ip)));
  const chosen = reaching ?? own[0];
  return chosen === undefined ? [] : [chosen];
};

const isUsable = (ip: Ip, { masqueradeSubnets }: ClusterConfig): boolean =>
  !isLinkLocal6(ip) &&
  !ip.startsWith('127.') &&
  ip !== '::1' &&
  !isLinkLocal4(ip) &&
  !masqueradeSubnets.some((subnet) => cidrContainsIp(subnet, ip));

/** RFC 3927 */
const isLinkLocal4 = (ip: Ip): boolean => ip.startsWith('169.254.');

/** Of the bridge's default routes, those with the lowest metric of each family, IPv4 first. */
const defaultNextHops = ({ routes }: HostSnapshot, bridge: string): Ip[] => {
  const defaults = routes
    .filter(({ dst, table }) => prefixLength(dst) === 0 && table === MAIN_TABLE)
    .map((route) => ({ ...route, ways: waysBy(route, bridge) }))
    .filter(({ ways }) => ways.length > 0)
    .sort((a, b) => a.metric - b.metric);
  return FAMILIES.flatMap((family) => defaults.find(({ dst }) => cidrFamily(dst) === family)?.ways ?? []).flatMap(
    ({ via }) => via ?? [],
  );
};

/** The kernel has a route with one next hop, or one with several. */
const waysBy = ({ dev, via, nextHops = [] }: Route, bridge: string): Pick<Route, 'via'>[] => [
  ...(dev === bridge ? [{ ...(via === undefined ? {} : { via }) }] : []),
  ...nextHops.filter((hop) => hop.dev === bridge),
];
