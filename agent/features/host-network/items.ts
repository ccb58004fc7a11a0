/** Builders of host items. */
import type { DesiredRule, HostItem } from '../../../datapath/host/types.ts';
import { route } from '../../../datapath/netlink/route/types.ts';
import type { Family, Ip } from '../../../net/ip.ts';
import { macFromIp } from '../../../net/mac.ts';

export const routeItem = (desired: Parameters<typeof route>[0]): HostItem => ({ kind: 'route', route: route(desired) });

export const ruleItem = (rule: DesiredRule): HostItem => ({ kind: 'rule', rule });

/** A neighbour that nobody has to be asked for: its MAC derives from its address. */
export const fixedNeighbour = (link: string, address: Ip): HostItem => ({
  kind: 'neighbour',
  neighbour: { link, address, mac: macFromIp(address) },
});

/** @param link name of a link, or `all` */
export const linkSetting = (family: Family, link: string, setting: string, value: string): HostItem => ({
  kind: 'sysctl',
  sysctl: { key: `ipv${family}/conf/${link}/${setting}`, value },
});
