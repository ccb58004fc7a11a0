/** Which bridge is the node's gateway bridge, or which NIC is to get one. Pure. */
import type { Link } from '../../../datapath/netlink/link/types.ts';
import { MAIN_TABLE, type Route } from '../../../datapath/netlink/route/types.ts';
import { cidrFamily, prefixLength } from '../../../net/cidr.ts';
import { UplinkError } from './errors.ts';
import { MOVE_KEY } from './move-record.ts';
import type { Bridge, GatewayOptions, HostSnapshot, World } from './types.ts';

export type Choice =
  | { readonly kind: 'use'; readonly bridge: Bridge }
  | { readonly kind: 'create'; readonly bridge: string; readonly nic: Link }
  | { readonly kind: 'absent'; readonly error: UplinkError };

/** @param last the gateway bridge so far */
export const chooseBridge = (
  { interface: desired }: Pick<GatewayOptions, 'interface'>,
  { switch: { bridges, mapped }, host }: World,
  last?: string,
): Choice => {
  // In the middle of a move the default route may be on either link, or on none.
  const begun = bridges.find(({ externalIds }) => externalIds[MOVE_KEY] !== undefined);
  if (begun !== undefined && (desired === undefined || isOf(begun, desired))) return { kind: 'use', bridge: begun };
  const existing = (bridge: string | undefined): string | undefined => bridges.find((one) => one.name === bridge)?.name;
  // The default route goes away with the bridge's interface, and comes back later.
  const name = desired ?? existing(last) ?? defaultRouteLink(host) ?? existing(mapped);
  if (name === undefined) return absent('ERR_UPLINK_ABSENT', 'no interface has a default route');
  const bridge = bridges.find((one) => isOf(one, name));
  if (bridge !== undefined) return { kind: 'use', bridge };
  if (begun !== undefined) {
    return absent('ERR_UPLINK_LINK', `bridge ${begun.name} is the gateway bridge, release its interface first`);
  }
  return bridgeFor(name, host);
};

const isOf = ({ name, ports }: Bridge, desired: string): boolean =>
  name === desired || ports.some((port) => port.name === desired);

/** Of the default route with the lowest metric, IPv4 before IPv6. */
const defaultRouteLink = ({ routes }: HostSnapshot): string | undefined => {
  const [first] = routes
    .filter(({ dst, table, type }) => prefixLength(dst) === 0 && table === MAIN_TABLE && type === 'unicast')
    .filter(({ dev, nextHops = [] }) => dev !== undefined || nextHops.length > 0)
    .sort((a, b) => cidrFamily(a.dst) - cidrFamily(b.dst) || a.metric - b.metric);
  return first?.dev ?? first?.nextHops?.[0]?.dev;
};

const bridgeFor = (name: string, host: HostSnapshot): Choice => {
  const nic = host.links.find((link) => link.name === name);
  if (nic === undefined) return absent('ERR_UPLINK_ABSENT', `no interface ${name}`);
  const bridge = `br${name}`;
  if (bridge.length > MAX_LINK_NAME) {
    return absent('ERR_UPLINK_LINK', `the name of interface ${name} is too long for a bridge ${bridge}`);
  }
  if (nic.mac === undefined || name === 'lo') return absent('ERR_UPLINK_LINK', `${name} is not an Ethernet interface`);
  if (nic.master !== undefined) {
    const master = host.links.find(({ index }) => index === nic.master)?.name ?? 'another interface';
    return absent('ERR_UPLINK_LINK', `interface ${name} is a port of ${master}`);
  }
  if (host.links.some((link) => link.name === bridge)) {
    return absent('ERR_UPLINK_LINK', `interface ${bridge} exists and is not an Open vSwitch bridge`);
  }
  const shared = host.routes.find(({ nextHops = [] }) => nextHops.some(({ dev }) => dev === name));
  if (shared !== undefined) return absent('ERR_UPLINK_LINK', sharedRoute(name, shared));
  return { kind: 'create', bridge, nic };
};

/** The kernel takes it away with the last address of its link: a node may have no other way out. */
const sharedRoute = (name: string, { dst, table }: Route): string =>
  `interface ${name} cannot be moved to a bridge: route ${dst} of table ${table} has several next hops`;

/** IFNAMSIZ − 1 of the kernel. */
const MAX_LINK_NAME = 15;

const absent = (code: UplinkError['code'], message: string): Choice => ({
  kind: 'absent',
  error: new UplinkError(code, message),
});

/**
 * The bridge's port to the outside: the one that it says, else its only port of type `system`, else the one that its name
 * says.
 */
export const uplinkOf = ({ name, externalIds, ports }: Bridge): string | undefined => {
  const published = externalIds['bridge-uplink'];
  if (published !== undefined && published !== '') return published;
  const system = ports.filter(({ types }) => types.some((type) => type === '' || type === 'system'));
  if (system.length === 1) return system[0]?.name;
  const fromName = name.startsWith('br') ? name.slice(2) : undefined;
  return system.some((port) => port.name === fromName) ? fromName : undefined;
};
