/** Whether a desired thing is as desired, and what would make it so. Pure. */
import { addressOf, cidrFamily, parseCidr } from '../../net/cidr.ts';
import type { Address, NewAddress } from '../netlink/address/types.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import type { Link, LinkChange } from '../netlink/link/types.ts';
import { OUR_PROTOCOL, sameRoute } from '../netlink/route/types.ts';
import type { Rule } from '../netlink/rule/types.ts';
import { type DesiredIndex, linkOfSysctl } from './desired-index.ts';
import type { Mirror } from './mirror.ts';
import { type HostOwnership, isOurVrf, isVrfTable, VRF_ALIAS } from './ownership.ts';
import { desiredDigest, frameFilterOf } from './port-filter.ts';
import {
  type DesiredAddress,
  type DesiredFilter,
  type DesiredNeighbour,
  type DesiredRule,
  type DesiredSysctl,
  type ForeignLink,
  type HostItem,
  hostItemKey,
  type VrfLink,
} from './types.ts';

export interface Assessment {
  /** What has to be done; nothing when it is right, or when it can't be done now. */
  readonly ops: readonly KernelOp[];
  /** What is missing that others bring. */
  readonly waiting?: string;
  /** Why it can't be. */
  readonly failed?: string;
  /** What the operations disturb, as `WantedIndex` names it: what depends on it is not known before they are done. */
  readonly disturbed?: readonly string[];
}

export interface Situation {
  readonly mirror: Mirror;
  readonly index: DesiredIndex;
  readonly ownership: HostOwnership;
}

export const isRight = ({ ops, waiting, failed }: Assessment): boolean =>
  ops.length === 0 && waiting === undefined && failed === undefined;

export const assess = (item: HostItem, situation: Situation): Assessment => {
  switch (item.kind) {
    case 'link':
      return item.link.kind === 'vrf' ? assessVrf(item.link, situation) : assessForeign(item.link, situation);
    case 'address':
      return assessAddress(item.address, situation);
    case 'route':
      return assessRoute(item, situation);
    case 'rule':
      return assessRule(item.rule, situation);
    case 'neighbour':
      return assessNeighbour(item.neighbour, situation);
    case 'sysctl':
      return assessSysctl(item.sysctl, situation);
    case 'filter':
      return assessFilter(item.filter, situation);
  }
};

const RIGHT: Assessment = { ops: [] };

/** Its alias follows in the same write to the kernel, so that none of ours is ever left without. */
const assessVrf = ({ name, table }: VrfLink, { mirror, ownership }: Situation): Assessment => {
  const link = mirror.links.get(name);
  const make: KernelOp[] = [
    { op: 'master.add', master: { kind: 'vrf', name, table } },
    { op: 'link.set', name, change: { alias: VRF_ALIAS, up: true } },
  ];
  if (link === undefined) return { ops: make, disturbed: [`link ${name}`, `table ${table}`] };
  if (link.vrfTable === table) {
    const change: LinkChange = {
      ...(link.alias === VRF_ALIAS ? {} : { alias: VRF_ALIAS }),
      ...(link.up ? {} : { up: true }),
    };
    const set: KernelOp[] = Object.keys(change).length === 0 ? [] : [{ op: 'link.set', name, change }];
    return { ops: [...set, ...mirror.vrfRules.repairs()] };
  }
  if (!isOurVrf(link, ownership)) return { ops: [], failed: `link ${name} exists and is foreign` };
  const disturbed = [`link ${name}`, `table ${table}`, ...portsOf(link, mirror).map((port) => `link ${port}`)];
  return { ops: [{ op: 'link.delete', name }, ...make], disturbed };
};

const portsOf = ({ index }: Link, mirror: Mirror): string[] =>
  [...mirror.links.values()].filter(({ master }) => master === index).map(({ name }) => name);

const assessForeign = (desired: ForeignLink, { mirror, ownership }: Situation): Assessment => {
  const { name, mac, mtu } = desired;
  const link = mirror.links.get(name);
  if (link === undefined) return { ops: [], waiting: noLink(name) };
  const master = masterChange(desired, link, mirror, ownership);
  const change: LinkChange = {
    ...(master.change === undefined ? {} : { master: master.change }),
    ...(mac === undefined || mac === link.mac ? {} : { mac }),
    ...(mtu === undefined || mtu === link.mtu ? {} : { mtu }),
    ...(link.up ? {} : { up: true }),
  };
  const waiting = master.waiting === undefined ? {} : { waiting: master.waiting };
  if (Object.keys(change).length === 0) return { ops: [], ...waiting };
  const disturbed = master.change === undefined ? [] : [`link ${name}`];
  return { ops: [{ op: 'link.set', name, change }], disturbed, ...waiting };
};

/** A link that should be a port of none is only taken out of a VRF of ours. */
const masterChange = (
  { master }: ForeignLink,
  link: Link,
  mirror: Mirror,
  ownership: HostOwnership,
): { readonly change?: string | null; readonly waiting?: string } => {
  const current = mirror.links.get(mirror.nameOf(link.master) ?? '');
  if (master === undefined) return current !== undefined && isOurVrf(current, ownership) ? { change: null } : {};
  if (mirror.links.get(master)?.vrfTable === undefined) return { waiting: `VRF ${master} does not exist` };
  return current?.name === master ? {} : { change: master };
};

const assessAddress = (desired: DesiredAddress, situation: Situation): Assessment => {
  const { link, address, deprecated = false, noDad = false, noPrefixRoute = false } = desired;
  const { mirror } = situation;
  const waiting = isOnLinkOf(link, situation);
  if (waiting !== undefined) return { ops: [], waiting };
  const put: NewAddress = {
    link,
    address,
    ...(deprecated ? { deprecated } : {}),
    ...(noPrefixRoute ? { noPrefixRoute } : {}),
    ...(cidrFamily(address) === 6 && !noDad ? { detectDuplicates: true } : {}),
  };
  const there = mirror.address(link, address);
  if (there?.state === 'duplicate') return { ops: [], failed: `another host has ${addressOf(address)}` };
  // Somebody else has put it: nothing can be sent from it for a second or two, unless it is put again.
  const isWaitedFor = noDad && there?.state === 'tentative';
  const isAsDesired = there !== undefined && !isWaitedFor && (there.deprecated ?? false) === deprecated;
  if (isAsDesired && (there.noPrefixRoute ?? false) === noPrefixRoute) return RIGHT;
  const removal: KernelOp[] = isWaitedFor ? [{ op: 'address.delete', address: { link, address } }] : [];
  return { ops: [...removal, ...obsoleteBy(desired, mirror), { op: 'address.put', address: put }] };
};

/** The kernel keeps the first prefix length of an address, and the route that it made for it. */
const obsoleteBy = ({ link, address, noPrefixRoute = false }: DesiredAddress, mirror: Mirror): KernelOp[] => {
  const isObsolete = (other: Address): boolean =>
    addressOf(other.address) === addressOf(address) &&
    (other.address !== address || (other.noPrefixRoute ?? false) !== noPrefixRoute);
  return [...mirror.addressesOf(link)]
    .filter(isObsolete)
    .map((other): KernelOp => ({ op: 'address.delete', address: { link, address: other.address } }));
};

const assessRoute = ({ route }: Extract<HostItem, { kind: 'route' }>, situation: Situation): Assessment => {
  const { mirror } = situation;
  const waiting =
    isVrfThere(route.table, situation) ?? (route.dev === undefined ? undefined : isUsable(route.dev, situation));
  if (waiting !== undefined) return { ops: [], waiting };
  const there = mirror.routes.get(hostItemKey({ kind: 'route', route })) ?? [];
  if (there.length <= 1) {
    const [only] = there;
    return only !== undefined && sameRoute(only, route) ? RIGHT : { ops: [{ op: 'route.put', route }] };
  }
  // Somebody appended one: what is put would only replace the first of them.
  const others = there.filter((one) => !sameRoute(one, route));
  return { ops: [...others.map((one): KernelOp => ({ op: 'route.delete', route: one })), { op: 'route.put', route }] };
};

const assessRule = (desired: DesiredRule, situation: Situation): Assessment => {
  const rule = kernelRule(desired);
  if (typeof rule === 'string') return { ops: [], failed: rule };
  const waiting = isVrfThere(rule.table, situation);
  if (waiting !== undefined) return { ops: [], waiting };
  const isThere = situation.mirror.rules.has(hostItemKey({ kind: 'rule', rule: desired }));
  return isThere ? RIGHT : { ops: [{ op: 'rule.put', rule }] };
};

/** A message when its prefixes are not as the kernel would give them back: then it could not be found again. */
export const kernelRule = ({ to, from, fwmark, iif, ...rest }: DesiredRule): Rule | string => {
  for (const prefix of [to, from]) if (prefix !== undefined && !isCanonical(prefix)) return `${prefix} is no prefix`;
  return {
    ...rest,
    ...(from === undefined ? {} : { from: parseCidr(from) }),
    ...(to === undefined ? {} : { to: parseCidr(to) }),
    ...(fwmark === undefined ? {} : { fwmark }),
    ...(iif === undefined ? {} : { iif }),
    protocol: OUR_PROTOCOL,
  };
};

const isCanonical = (prefix: string): boolean => {
  try {
    return parseCidr(prefix) === prefix;
  } catch {
    return false;
  }
};

const assessNeighbour = (neighbour: DesiredNeighbour, { mirror }: Situation): Assessment => {
  const { link, address, mac } = neighbour;
  if (!mirror.links.has(link)) return { ops: [], waiting: noLink(link) };
  return mirror.neighbour(link, address) === mac ? RIGHT : { ops: [{ op: 'neighbour.put', neighbour }] };
};

const assessSysctl = ({ key, value, ifPresent = false }: DesiredSysctl, { mirror }: Situation): Assessment => {
  const link = linkOfSysctl(key);
  if (link !== undefined && !mirror.links.has(link)) return { ops: [], waiting: noLink(link) };
  const there = mirror.sysctl(key);
  if (there?.value === value || (there !== undefined && there.value === undefined && ifPresent)) return RIGHT;
  return { ops: [{ op: 'sysctl.set', key, value, ifPresent }] };
};

const assessFilter = (desired: DesiredFilter, { mirror }: Situation): Assessment => {
  const { link } = desired;
  if (!mirror.links.has(link)) return { ops: [], waiting: noLink(link) };
  if (mirror.filter(link)?.digest === desiredDigest(desired)) return RIGHT;
  const filter = frameFilterOf(desired);
  // Rules that are put again are a loss for who listens: all filters would be read for each new port.
  return { ops: [{ op: 'filter.put', filter, withShared: mirror.isSharedWhole(filter.shared.name) === false }] };
};

/** Undefined when it is there, and a port of the VRF that it should be one of: an address must not be in the wrong table. */
const isOnLinkOf = (name: string, { mirror, index }: Situation): string | undefined => {
  const link = mirror.links.get(name);
  if (link === undefined) return noLink(name);
  const master = index.masterOf(name);
  return master === undefined || mirror.nameOf(link.master) === master
    ? undefined
    : `link ${name} is not in VRF ${master}`;
};

/** Routes need a link that is up; one that is desired is brought up before. */
const isUsable = (name: string, situation: Situation): string | undefined => {
  const { mirror, index } = situation;
  const isUp = mirror.links.get(name)?.up === true || index.desired.has(`link ${name}`);
  return isOnLinkOf(name, situation) ?? (isUp ? undefined : `link ${name} is down`);
};

/** Without its VRF nobody looks into a network's table by the network's own ports. */
const isVrfThere = (table: number, { mirror, ownership }: Situation): string | undefined =>
  isVrfTable(table, ownership) && mirror.vrfOf(table) === undefined
    ? `the VRF of table ${table} does not exist`
    : undefined;

const noLink = (name: string): string => `link ${name} does not exist`;
