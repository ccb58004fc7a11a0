import type { Family } from '../../../net/ip.ts';
import type { Mac } from '../../../net/mac.ts';
import type { Address, NewAddress } from '../address/types.ts';
import type { NetlinkError } from '../errors.ts';
import type { FrameFilter, ObservedFilters } from '../frame-filter/types.ts';
import type { AddrGenMode, Link, LinkChange, NewLink, NewMaster } from '../link/types.ts';
import type { Neighbour, NewNeighbour } from '../neighbour/types.ts';
import type { Route } from '../route/types.ts';
import type { Rule } from '../rule/types.ts';

/**
 * One change in one network namespace. Links are named: whoever applies it finds the index.
 *
 * Every change may be repeated. What is there already as desired is success and so is deleting what is not there, with one
 * exception: `link.add` and `master.add` fail with EEXIST, because the kernel does not say whether the link of that name is
 * the same.
 */
export type KernelOp = PodOp | HostOp;

/** What a pod's interfaces are made of. */
export type PodOp =
  | { readonly op: 'link.add'; readonly link: NewLink }
  | { readonly op: 'link.set'; readonly name: string; readonly change: LinkChange }
  /** Success where IPv6 is not there, so that there is nothing to generate. */
  | { readonly op: 'link.addrGenMode'; readonly name: string; readonly mode: AddrGenMode }
  | { readonly op: 'link.delete'; readonly name: string }
  /** `ethtool -K NAME tx on|off` */
  | { readonly op: 'link.txChecksum'; readonly name: string; readonly on: boolean }
  /**
   * Replaces the one that the link has. EOPNOTSUPP where the kernel has no nftables at a link's egress (before 5.16).
   * `withShared`: the shared chain has lost rules; else it is put only when it is not there at all.
   */
  | { readonly op: 'filter.put'; readonly filter: FrameFilter; readonly withShared?: boolean }
  | { readonly op: 'filter.delete'; readonly link: string }
  | { readonly op: 'address.put'; readonly address: NewAddress }
  | { readonly op: 'address.delete'; readonly address: NewAddress }
  /** Replaces a route of the same `routeKey`. */
  | { readonly op: 'route.put'; readonly route: Route }
  | { readonly op: 'route.delete'; readonly route: Route }
  /** `ifPresent`: success when there is no such setting, for example where the kernel has no IPv6. */
  | { readonly op: 'sysctl.set'; readonly key: SysctlKey; readonly value: string; readonly ifPresent?: boolean };

/** What only a node needs. */
export type HostOp =
  /** As `link.add` it may not be repeated. ENOTSUP where the kernel lacks the kind. */
  | { readonly op: 'master.add'; readonly master: NewMaster }
  /** Deletes a shared chain; success while a filter needs it. */
  | { readonly op: 'filter.unshare'; readonly name: string }
  /** No locked pod has that MAC; success when none is known by it. */
  | { readonly op: 'filter.unlock'; readonly mac: Mac }
  /** All filters, of all links. */
  | { readonly op: 'filters.clear' }
  | { readonly op: 'rule.put'; readonly rule: Rule }
  | { readonly op: 'rule.delete'; readonly rule: Rule }
  /** Replaces what the link has for that address. */
  | { readonly op: 'neighbour.put'; readonly neighbour: NewNeighbour }
  | { readonly op: 'neighbour.delete'; readonly neighbour: Pick<NewNeighbour, 'link' | 'address'> };

/** A path below /proc/sys/net, for example `ipv6/conf/eth0/accept_ra`: dots in a link's name stay what they are. */
export type SysctlKey = string;

export interface OpFailure {
  readonly op: KernelOp;
  readonly error: NetlinkError;
}

export interface RouteFilter {
  readonly family: Family;
  /** All tables when absent. */
  readonly table?: number;
  /** Of everybody when absent. */
  readonly protocol?: number;
}

/** The objects of one network namespace. Everything is synchronous and answers at once or throws NetlinkError. */
export interface Netns {
  /** Undefined when there is no link of that name. */
  link(name: string): Link | undefined;
  linkByIndex(index: number): Link | undefined;
  links(): Link[];
  /** Of one link, or of all; none when there is no such link. */
  addresses(link?: string): Address[];
  routes(filter: RouteFilter): Route[];
  /** Those that lead to a table by selectors that `Rule` knows. */
  rules(): Rule[];
  neighbours(): Neighbour[];
  /** Undefined when there is no such setting, for example of a link that is gone. */
  sysctl(key: SysctlKey): string | undefined;
  /** Undefined when there is no such link. */
  txChecksum(link: string): boolean | undefined;
  /** What there is in place of some, or all. */
  frameFilters(filters?: readonly FrameFilter[]): ObservedFilters;
  /** Why the kernel takes no frame filters; undefined: it does. */
  whyNoFilters(): string | undefined;
  /** What this namespace calls the one at `path` (`LinkPeer.netnsid`); undefined when it has no name for it yet. */
  netnsid(path: string): number | undefined;
  /** Applies all, in order; one that fails does not stop the next. */
  apply(ops: readonly KernelOp[]): OpFailure[];
  /** Waits until the kernel has finished everything that its events so far announced. */
  settle(): void;
}

/** Gives access to network namespaces. */
export interface Kernel {
  /**
   * @param path undefined for the own namespace
   * @throws NetlinkError ENOENT or EINVAL when there is no namespace at `path`
   */
  netns(path?: string): Netns;
  /**
   * Deletes all links of the own namespace that are in a group (`LinkChange.group`). The kernel takes about 16 ms for one
   * link and for fifty, because it waits for every processor to let go of them (RCU); meanwhile other calls go on.
   */
  deleteGroup(group: number): Promise<void>;
  /** Lets go of all namespaces but the own one. Whoever used `netns` calls it at the end of its batch. */
  release(): void;
}
