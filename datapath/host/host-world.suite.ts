/** A host with a bridge to the outside, a management port, and their desired state. */
import { type Cidr, defaultRoute, hostRoute, parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { type Ip, parseIp } from '../../net/ip.ts';
import { parseMac } from '../../net/mac.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import type { LinkChange } from '../netlink/link/types.ts';
import { type Route, route } from '../netlink/route/types.ts';
import type { DesiredAddress, DesiredRule, HostItem } from './types.ts';

export const TABLE = 100_003;
export const PORT = 'ovn-k8s-mp3';
export const VRF = 'blue-vrf';
const ip = (text: string): Ip => parseIp(text);
const cidr = (text: string): Cidr => parseCidr(text);

/** What others make: ovs-vswitchd, the administrator. */
export const bridgeOps: readonly KernelOp[] = [
  { op: 'link.set', name: 'lo', change: { up: true } },
  { op: 'master.add', master: { kind: 'bridge', name: 'br-ex' } },
  { op: 'link.set', name: 'br-ex', change: { up: true } },
  { op: 'address.put', address: { link: 'br-ex', address: parseInterfaceAddress('172.18.0.2/16') } },
  { op: 'address.put', address: { link: 'br-ex', address: parseInterfaceAddress('fd12::2/64') } },
];

const end = { mtu: 1400, group: 0 };
export const portOps: readonly KernelOp[] = [
  {
    op: 'link.add',
    link: {
      kind: 'veth',
      name: PORT,
      ...end,
      mac: parseMac('0a:58:64:80:00:99'),
      peer: { name: 'mp3-peer', ...end, mac: parseMac('0a:58:64:80:00:98'), netns: undefined },
    },
  },
  { op: 'link.set', name: 'mp3-peer', change: { up: true } },
];

export const noPort: KernelOp = { op: 'link.delete', name: PORT };

export const link = (name: string, fields: object = {}): HostItem => ({
  kind: 'link',
  link: { kind: 'foreign', name, ...fields },
});
export const vrf: HostItem = { kind: 'link', link: { kind: 'vrf', name: VRF, table: TABLE } };
export const address = (name: string, text: string, fields: Partial<DesiredAddress> = {}): HostItem => ({
  kind: 'address',
  address: { link: name, address: parseInterfaceAddress(text), ...fields },
});
export const routeTo = (dst: string, fields: Partial<Route> = {}): HostItem => ({
  kind: 'route',
  route: route({ dst: cidr(dst), ...fields }),
});
export const rule = (fields: Partial<DesiredRule> = {}): HostItem => ({
  kind: 'rule',
  rule: { family: 4, priority: 2000, table: 7, ...fields },
});
export const neighbour = (name: string, text: string, last = 4): HostItem => ({
  kind: 'neighbour',
  neighbour: { link: name, address: ip(text), mac: parseMac(`0a:58:a9:fe:00:0${last}`) },
});
export const sysctl = (key: string, value: string): HostItem => ({ kind: 'sysctl', sysctl: { key, value } });

/** On the bridge, as on every node. */
export const bridgeItems: readonly HostItem[] = [
  link('br-ex'),
  address('br-ex', '169.254.0.2/17'),
  address('br-ex', 'fd69::2/112', { deprecated: true, noDad: true }),
  routeTo('169.254.0.1/32', { dev: 'br-ex', src: ip('172.18.0.2') }),
  routeTo('10.96.0.0/16', { dev: 'br-ex', via: ip('169.254.0.4'), src: ip('169.254.0.2'), mtu: 1400 }),
  routeTo('fd96::/112', { dev: 'br-ex', via: ip('fd69::4'), src: ip('fd69::2'), mtu: 1400 }),
  neighbour('br-ex', '169.254.0.4'),
  neighbour('br-ex', 'fd69::4'),
  rule({ priority: 30, fwmark: 0x1745ec }),
  rule({ priority: 30, fwmark: 0x1745ec, family: 6 }),
];

/** On a management port, in a table of its choice. */
export const portItems = (table: number, master?: string): readonly HostItem[] => [
  link(PORT, { mac: parseMac('0a:58:64:80:00:02'), mtu: 1300, ...(master === undefined ? {} : { master }) }),
  address(PORT, '100.128.0.2/24'),
  address(PORT, 'fd80::2/64', { noDad: true }),
  sysctl(`ipv4/conf/${PORT}/rp_filter`, '2'),
  sysctl(`ipv4/conf/${PORT}/forwarding`, '1'),
  sysctl(`ipv6/conf/${PORT}/accept_ra`, '0'),
  routeTo('100.128.0.0/16', { dev: PORT, via: ip('100.128.0.1'), table }),
  routeTo('fd80::/48', { dev: PORT, via: ip('fd80::1'), table }),
  routeTo('169.254.0.12/32', { dev: PORT, table }),
  neighbour(PORT, '100.128.0.1'),
];

/** What a network has beside its port: mostly its table. */
export const networkItems: readonly HostItem[] = [
  vrf,
  ...portItems(TABLE, VRF),
  routeTo('10.96.0.0/16', { dev: 'br-ex', via: ip('169.254.0.4'), src: ip('169.254.0.2'), table: TABLE }),
  routeTo('0.0.0.0/0', { dev: 'br-ex', via: ip('172.18.0.1'), table: TABLE }),
  ...([4, 6] as const).map((family) =>
    routeTo(defaultRoute(family), { type: 'unreachable', metric: 4_278_198_272, table: TABLE }),
  ),
  rule({ table: TABLE, fwmark: 0x1003 }),
  rule({ table: TABLE, to: hostRoute(ip('169.254.0.12')) }),
  rule({ table: TABLE, fwmark: 0x1003, family: 6 }),
];

export const set = (name: string, change: LinkChange): KernelOp => ({ op: 'link.set', name, change });

/** What somebody might do to each kind of thing, and the keys of what it hurts. */
export const attacks: readonly (readonly [string, KernelOp])[] = [
  [
    'deletes an address',
    { op: 'address.delete', address: { link: PORT, address: parseInterfaceAddress('100.128.0.2/24') } },
  ],
  [
    'deletes an IPv6 address',
    { op: 'address.delete', address: { link: 'br-ex', address: parseInterfaceAddress('fd69::2/112') } },
  ],
  [
    'prefers an address',
    { op: 'address.put', address: { link: 'br-ex', address: parseInterfaceAddress('fd69::2/112') } },
  ],
  [
    'adds an address',
    { op: 'address.put', address: { link: PORT, address: parseInterfaceAddress('100.128.0.77/24') } },
  ],
  ['changes a setting', { op: 'sysctl.set', key: `ipv4/conf/${PORT}/rp_filter`, value: '0' }],
  ['stops forwarding', { op: 'sysctl.set', key: `ipv4/conf/${PORT}/forwarding`, value: '0' }],
  ['sets a link down', set(PORT, { up: false })],
  ['sets the bridge down', set('br-ex', { up: false })],
  ['changes a MAC', set(PORT, { mac: parseMac('0a:58:64:80:00:77') })],
  ['changes an MTU', set(PORT, { mtu: 1290 })],
  [
    'deletes a rule',
    { op: 'rule.delete', rule: { family: 4, priority: 30, fwmark: 0x1745ec, table: 7, protocol: 85 } },
  ],
  ['adds a rule of ours', { op: 'rule.put', rule: { family: 4, priority: 2000, fwmark: 9, table: 7, protocol: 85 } }],
  ['deletes a neighbour', { op: 'neighbour.delete', neighbour: { link: 'br-ex', address: ip('fd69::4') } }],
  [
    'changes a neighbour',
    {
      op: 'neighbour.put',
      neighbour: { link: 'br-ex', address: ip('169.254.0.4'), mac: parseMac('0a:58:a9:fe:00:07') },
    },
  ],
];

export const routeAttacks = (table: number): readonly (readonly [string, KernelOp])[] => [
  [
    'deletes a route',
    { op: 'route.delete', route: route({ dst: cidr('100.128.0.0/16'), dev: PORT, via: ip('100.128.0.1'), table }) },
  ],
  [
    'deletes an IPv6 route',
    { op: 'route.delete', route: route({ dst: cidr('fd80::/48'), dev: PORT, via: ip('fd80::1'), table }) },
  ],
  [
    'changes a route',
    { op: 'route.put', route: route({ dst: cidr('100.128.0.0/16'), dev: PORT, via: ip('100.128.0.9'), table }) },
  ],
  [
    'takes a route over',
    { op: 'route.put', route: route({ dst: cidr('169.254.0.12/32'), dev: PORT, table, protocol: 4 }) },
  ],
  ['adds a route of ours', { op: 'route.put', route: route({ dst: cidr('100.99.0.0/16'), dev: PORT, table }) }],
];
