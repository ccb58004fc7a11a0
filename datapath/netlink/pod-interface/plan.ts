/** What has to be done so that a pod has what it should. Pure. */

import { DYING_LINK_GROUP, POD_LINK_GROUP } from '../../../api/pod-links.ts';
import { addressOf, cidrFamily, type InterfaceAddress } from '../../../net/cidr.ts';
import { FAMILIES, type Family } from '../../../net/ip.ts';
import { PodInterfaceError } from '../errors.ts';
import { type FrameFilter, isFilterCurrent, type ObservedFilters } from '../frame-filter/types.ts';
import type { PodOp } from '../kernel/types.ts';
import type { Link, LinkChange } from '../link/types.ts';
import { OUR_PROTOCOL, type Route, routeKey, sameRoute } from '../route/types.ts';
import { hostEndMac, isOurs } from './marks.ts';
import type { ObservedInterface, ObservedPod } from './observe.ts';
import { routesOf } from './routes.ts';
import { MIN_MTU_IPV6, settingsOf } from './settings.ts';
import type { PodInterface, PodNetwork } from './types.ts';

/** Operations for one namespace. Stages follow each other; one that fails makes the later ones pointless. */
export interface Stage {
  readonly where: 'pod' | 'node';
  readonly ops: readonly PodOp[];
}

/**
 * Nothing when all is as desired. Links come first, those in the way go before others are made.
 * @throws PodInterfaceError ERR_POD_LINK_FOREIGN
 */
export const planPod = ({ netns, interfaces }: PodNetwork, observed: ObservedPod): Stage[] => {
  const plans = interfaces.map((desired) =>
    planInterface(desired, netns, observed.filters, observed.interfaces.get(desired.name)),
  );
  const inStep = (step: (typeof POD_STEPS)[number]): PodOp[] => plans.flatMap(({ pod }) => pod[step]);
  const loopback: PodOp[] = observed.loopbackUp ? [] : [{ op: 'link.set', name: 'lo', change: { up: true } }];
  const stages: Stage[] = [
    { where: 'pod', ops: plans.flatMap(({ podLinks }) => podLinks) },
    { where: 'node', ops: plans.flatMap(({ nodeLinks }) => nodeLinks) },
    // The kernel takes filters together that follow each other. Nothing gets past them: links come up last.
    { where: 'node', ops: NODE_STEPS.flatMap((step) => plans.flatMap(({ node }) => node[step])) },
    // So that what goes over rtnetlink follows each other, and is one request to the kernel.
    { where: 'pod', ops: [...inStep('settings'), ...loopback, ...inStep('links'), ...inStep('inet')] },
  ];
  return stages.filter(({ ops }) => ops.length > 0);
};

interface InterfacePlan {
  readonly podLinks: readonly PodOp[];
  readonly nodeLinks: readonly PodOp[];
  readonly node: NodeOps;
  readonly pod: PodOps;
}

/** What is no filter is one request to the kernel. */
const NODE_STEPS = ['filter', 'settings', 'up'] as const;
/** Settings come before the link is up, addresses after it, routes last: each needs the one before. */
const POD_STEPS = ['settings', 'links', 'inet'] as const;

type NodeOps = Readonly<Record<(typeof NODE_STEPS)[number], readonly PodOp[]>>;
type PodOps = Readonly<Record<(typeof POD_STEPS)[number], readonly PodOp[]>>;

const ABSENT: ObservedInterface = {
  host: undefined,
  pod: undefined,
  paired: false,
  addresses: [],
  routes: [],
  settings: new Map(),
  txChecksum: undefined,
};

const planInterface = (
  desired: PodInterface,
  netns: string,
  filters: ObservedFilters,
  seen: ObservedInterface = ABSENT,
): InterfacePlan => {
  if (seen.host !== undefined) requireOurs(seen.host, `host interface ${desired.hostName}`);
  if (seen.pod !== undefined) requireOurs(seen.pod, `interface ${desired.name} in ${netns}`);
  if (isKeepable(desired, seen)) {
    return { podLinks: [], nodeLinks: [], node: nodeOps(desired, seen, filters), pod: podOps(desired, seen) };
  }
  if (seen.host !== undefined) requireUnclaimed(desired, seen.host);
  return {
    // The pair of the node's end goes with it.
    podLinks: seen.pod === undefined || seen.paired ? [] : [{ op: 'link.delete', name: desired.name }],
    nodeLinks: [
      ...(seen.host === undefined ? [] : [{ op: 'link.delete', name: desired.hostName } as const]),
      { op: 'link.add', link: pairOf(desired, netns) },
    ],
    node: nodeOps(desired, ABSENT, undefined),
    pod: podOps(desired, ABSENT),
  };
};

const requireOurs = (link: Link, what: string): void => {
  if (isOurs(link)) return;
  const owner = link.alias === undefined ? '' : `, its alias is "${link.alias}"`;
  throw new PodInterfaceError(
    'ERR_POD_LINK_FOREIGN',
    `${what} exists and is foreign (${link.kind ?? 'no kind'}${owner}): delete or rename it`,
  );
};

/** An end that leads elsewhere and has a name of its own belongs to another pod, which would lose it. */
const requireUnclaimed = ({ hostName, alias }: PodInterface, host: Link): void => {
  if (host.alias === undefined || host.alias === alias || host.group === DYING_LINK_GROUP) return;
  throw new PodInterfaceError(
    'ERR_POD_LINK_FOREIGN',
    `host interface ${hostName} already belongs to "${host.alias}" and is desired for "${alias}"`,
  );
};

/**
 * What can't be changed without traces: a pair like that is made again. The MAC decides the link-local address and is in
 * many caches; across the smallest MTU of IPv6 the kernel forgets all of it, settings included.
 */
const isKeepable = ({ mac, mtu }: PodInterface, { host, pod, paired }: ObservedInterface): boolean =>
  paired &&
  pod?.mac === mac &&
  host?.mac === hostEndMac(mac) &&
  host.group !== DYING_LINK_GROUP &&
  [host, pod].every((end) => end.mtu < MIN_MTU_IPV6 === mtu < MIN_MTU_IPV6);

const pairOf = ({ name, hostName, mac, mtu }: PodInterface, netns: string) =>
  ({
    kind: 'veth',
    name: hostName,
    mac: hostEndMac(mac),
    mtu,
    group: POD_LINK_GROUP,
    peer: { name, mac, mtu, group: POD_LINK_GROUP, netns },
  }) as const;

/**
 * No IPv6 on the node's end: what it sends would arrive in the pod.
 * @param filters undefined: of a new link, so that nobody has looked
 */
const nodeOps = (desired: PodInterface, { host }: ObservedInterface, filters: ObservedFilters | undefined): NodeOps => {
  const { hostName, mtu, alias } = desired;
  return {
    settings: [
      ...linkOps(hostName, {
        ...(host?.alias === alias ? {} : { alias }),
        ...(host === undefined || host.group === POD_LINK_GROUP ? {} : { group: POD_LINK_GROUP }),
        ...(host === undefined || host.mtu === mtu ? {} : { mtu }),
      }),
      ...addrGenModeOps(hostName, host, 'none'),
    ],
    filter: filterOps(filterOf(desired), filters),
    up: host?.up === true ? [] : linkOps(hostName, { up: true }),
  };
};

const filterOps = (filter: FrameFilter, seen: ObservedFilters | undefined): PodOp[] => {
  if (seen === undefined) return [{ op: 'filter.put', filter }];
  if (isFilterCurrent(filter, seen)) return [];
  return [{ op: 'filter.put', filter, withShared: seen.shared.get(filter.shared.name) !== true }];
};

export const filterOf = ({
  hostName,
  mac,
  hears: { shared, rules, isLocked },
}: Pick<PodInterface, 'hostName' | 'mac' | 'hears'>): FrameFilter => ({
  link: hostName,
  shared,
  rules,
  receiver: { mac, isLocked },
});

const podOps = (desired: PodInterface, seen: ObservedInterface): PodOps => ({
  settings: [
    ...settingsOf(desired)
      .filter(([key, value]) => seen.settings.get(key) !== value && (seen.pod === undefined || seen.settings.has(key)))
      .map(([key, value]): PodOp => ({ op: 'sysctl.set', key, value, ifPresent: true })),
    ...checksumOps(desired, seen),
  ],
  links: [
    ...(seen.pod === undefined || seen.pod.mtu === desired.mtu ? [] : linkOps(desired.name, { mtu: desired.mtu })),
    ...addrGenModeOps(desired.name, seen.pod, 'eui64'),
    ...(seen.pod?.up === true ? [] : linkOps(desired.name, { up: true })),
  ],
  inet: inetOps(desired, seen),
});

const linkOps = (name: string, change: LinkChange): PodOp[] =>
  Object.keys(change).length === 0 ? [] : [{ op: 'link.set', name, change }];

const addrGenModeOps = (name: string, link: Link | undefined, mode: 'none' | 'eui64'): PodOp[] => {
  const isSet = link !== undefined && (link.addrGenMode === mode || link.addrGenMode === undefined);
  return isSet ? [] : [{ op: 'link.addrGenMode', name, mode }];
};

/** On is how the kernel makes a veth. */
const checksumOps = ({ name, txChecksum }: PodInterface, seen: ObservedInterface): PodOp[] =>
  (seen.txChecksum ?? true) === txChecksum ? [] : [{ op: 'link.txChecksum', name, on: txChecksum }];

const inetOps = (desired: PodInterface, seen: ObservedInterface): PodOp[] => {
  const routes = routesOf(desired);
  return FAMILIES.flatMap((family) => familyOps(family, { ...desired, routes }, seen));
};

/**
 * Addresses and routes of one family. With an address the kernel takes away others of its network and routes that need
 * it, so when one has to go, the whole desired state is put again.
 */
const familyOps = (
  family: Family,
  desired: Pick<PodInterface, 'name' | 'addresses'> & { routes: readonly Route[] },
  seen: ObservedInterface,
): PodOp[] => {
  const link = desired.name;
  const desiredAddresses = desired.addresses.filter((address) => cidrFamily(address) === family);
  const desiredRoutes = desired.routes.filter(({ dst }) => cidrFamily(dst) === family);
  const stale = seen.addresses.filter(
    ({ address, scope, state }) =>
      cidrFamily(address) === family &&
      (!desiredAddresses.includes(address) || state === 'duplicate') &&
      !isLinkLocal(address, scope),
  );
  const afresh = stale.length > 0;
  const present = seen.addresses.map(({ address }) => address);
  return [
    ...stale.map(({ address }): PodOp => ({ op: 'address.delete', address: { link, address } })),
    ...desiredAddresses
      .filter((address) => afresh || !present.includes(address))
      .map((address): PodOp => ({ op: 'address.put', address: { link, address } })),
    ...staleRoutes(family, desiredRoutes, seen).map((route): PodOp => ({ op: 'route.delete', route })),
    ...desiredRoutes
      .filter((route) => afresh || !seen.routes.some((other) => sameRoute(route, other)))
      .map((route): PodOp => ({ op: 'route.put', route })),
  ];
};

/** The kernel makes these for IPv6 by itself; a link-local IPv4 address (RFC 3927) is an address like any other. */
const isLinkLocal = (address: InterfaceAddress, scope: string): boolean =>
  scope === 'link' && addressOf(address).startsWith('fe80:');

/** A route of somebody else in the pod stays, unless it has the place of a desired one, which then replaces it. */
const staleRoutes = (family: Family, desired: readonly Route[], { routes }: ObservedInterface): Route[] => {
  const keys = new Set(desired.map(routeKey));
  return routes.filter(
    (route) => route.protocol === OUR_PROTOCOL && cidrFamily(route.dst) === family && !keys.has(routeKey(route)),
  );
};
