import { FAMILIES } from '../../../net/ip.ts';
import type { Address } from '../address/types.ts';
import { NO_FILTERS, type ObservedFilters } from '../frame-filter/types.ts';
import type { Kernel, Netns, SysctlKey } from '../kernel/types.ts';
import type { Link } from '../link/types.ts';
import { MAIN_TABLE, type Route } from '../route/types.ts';
import { arePaired } from './paired.ts';
import { filterOf } from './plan.ts';
import { settingsOf } from './settings.ts';
import type { PodInterface, PodNetwork } from './types.ts';

/** What is there of the things that a pod needs. */
export interface ObservedPod {
  readonly loopbackUp: boolean;
  /** By the name in the pod. */
  readonly interfaces: ReadonlyMap<string, ObservedInterface>;
  /** Of the node. */
  readonly filters: ObservedFilters;
}

export interface ObservedInterface {
  /** The link of the desired name on the node. */
  readonly host: Link | undefined;
  /** The link of the desired name in the pod. */
  readonly pod: Link | undefined;
  /** These two are the ends of one pair. */
  readonly paired: boolean;
  /** Of the pod's link. */
  readonly addresses: readonly Address[];
  /** Through the pod's link, in the main table. */
  readonly routes: readonly Route[];
  readonly settings: ReadonlyMap<SysctlKey, string>;
  /** Undefined without a link. */
  readonly txChecksum: boolean | undefined;
}

/** A new namespace, and a node without any link of the desired names. */
export const NOTHING: ObservedPod = { loopbackUp: false, interfaces: new Map(), filters: NO_FILTERS };

/** @throws NetlinkError */
export const observePod = (kernel: Kernel, { netns: path, interfaces }: PodNetwork): ObservedPod => {
  const pod = kernel.netns(path);
  const routes = FAMILIES.flatMap((family) => pod.routes({ family, table: MAIN_TABLE }));
  return {
    loopbackUp: pod.link('lo')?.up ?? false,
    filters: kernel.netns().frameFilters(interfaces.map(filterOf)),
    interfaces: new Map(
      interfaces.map((desired) => [desired.name, observeInterface(kernel.netns(), pod, path, desired, routes)]),
    ),
  };
};

const observeInterface = (
  node: Netns,
  pod: Netns,
  path: string,
  desired: PodInterface,
  routes: readonly Route[],
): ObservedInterface => {
  const hostEnd = node.link(desired.hostName);
  const podEnd = pod.link(desired.name);
  return {
    host: hostEnd,
    pod: podEnd,
    paired: arePaired(hostEnd, podEnd, () => node.netnsid(path)),
    addresses: pod.addresses(desired.name),
    routes: routes.filter(({ dev }) => dev === desired.name),
    settings: new Map(
      settingsOf(desired).flatMap(([key]) => {
        const value = pod.sysctl(key);
        return value === undefined ? [] : [[key, value] as const];
      }),
    ),
    txChecksum: pod.txChecksum(desired.name),
  };
};
