/** The desired state of the host's network stack, in its own network namespace. */
import type { InterfaceAddress } from '../../net/cidr.ts';
import type { Family, Ip } from '../../net/ip.ts';
import type { Mac } from '../../net/mac.ts';
import type { FrameRule } from '../netlink/frame-filter/types.ts';
import { type Route, routeKey } from '../netlink/route/types.ts';

export interface VrfLink {
  readonly kind: 'vrf';
  readonly name: string;
  /** Of routes: rtnetlink's IFLA_VRF_TABLE. */
  readonly table: number;
}

/** A link that something else makes (ovs-vswitchd, a person); only what is named here is kept. It is never deleted. */
export interface ForeignLink {
  readonly kind: 'foreign';
  readonly name: string;
  /** Name of the VRF that it is a port of. */
  readonly master?: string | undefined;
  readonly mac?: Mac | undefined;
  readonly mtu?: number | undefined;
}

/** Every link is kept up. */
export type DesiredLink = VrfLink | ForeignLink;

export interface DesiredAddress {
  readonly link: string;
  readonly address: InterfaceAddress;
  /** IPv6: never the source of a new connection unless asked for (preferred lifetime 0). */
  readonly deprecated?: boolean | undefined;
  /** IPv6: without duplicate address detection. */
  readonly noDad?: boolean | undefined;
  /** Without the route to its network that the kernel makes otherwise. */
  readonly noPrefixRoute?: boolean | undefined;
}

/** ip-rule(8). Ours are those of our priorities (`agent/model/registry/ip-rules.ts`) with our protocol number. */
export interface DesiredRule {
  readonly family: Family;
  readonly priority: number;
  readonly fwmark?: number | undefined;
  /** A prefix in canonical form, with its length. */
  readonly to?: string | undefined;
  readonly from?: string | undefined;
  readonly iif?: string | undefined;
  readonly table: number;
}

/** A permanent neighbour. */
export interface DesiredNeighbour {
  readonly link: string;
  readonly address: Ip;
  readonly mac: Mac;
}

export interface DesiredSysctl {
  /** A path below /proc/sys/net, see `SysctlKey`. */
  readonly key: string;
  readonly value: string;
  /** Success where the kernel does not have the setting. */
  readonly ifPresent?: boolean | undefined;
}

/** What a link may send: a filter of frames, at its hook `egress`. */
export interface DesiredFilter {
  readonly link: string;
  readonly rules: readonly FrameRule[];
}

export type HostItem =
  | { readonly kind: 'link'; readonly link: DesiredLink }
  | { readonly kind: 'address'; readonly address: DesiredAddress }
  | { readonly kind: 'route'; readonly route: Route }
  | { readonly kind: 'rule'; readonly rule: DesiredRule }
  | { readonly kind: 'neighbour'; readonly neighbour: DesiredNeighbour }
  | { readonly kind: 'sysctl'; readonly sysctl: DesiredSysctl }
  | { readonly kind: 'filter'; readonly filter: DesiredFilter };

/** What a fragment wants of the host. */
export interface HostFragment {
  readonly items: readonly HostItem[];
}

export const hostItemKey = (item: HostItem): string => {
  switch (item.kind) {
    case 'link':
      return `link ${item.link.name}`;
    case 'address':
      return `address ${item.address.link} ${item.address.address}`;
    case 'route':
      return `route ${routeKey(item.route)}`;
    case 'rule':
      return `rule ${ruleText(item.rule)}`;
    case 'neighbour':
      return `neighbour ${item.neighbour.link} ${item.neighbour.address}`;
    case 'sysctl':
      return `sysctl ${item.sysctl.key}`;
    case 'filter':
      return `filter ${item.filter.link}`;
  }
};

const ruleText = ({ family, priority, fwmark, to, from, iif, table }: DesiredRule): string =>
  [
    `IPv${family} ${priority}:`,
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(to === undefined ? [] : [`to ${to}`]),
    ...(fwmark === undefined ? [] : [`fwmark 0x${fwmark.toString(16)}`]),
    ...(iif === undefined ? [] : [`iif ${iif}`]),
    `lookup ${table}`,
  ].join(' ');
