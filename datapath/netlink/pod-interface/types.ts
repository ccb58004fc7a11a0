import type { Cidr, InterfaceAddress } from '../../../net/cidr.ts';
import type { Ip } from '../../../net/ip.ts';
import type { Mac } from '../../../net/mac.ts';
import type { FrameFilter, FrameRule, NeedlessFilters, SharedChain } from '../frame-filter/types.ts';

/** A pod's network namespace and all of ours that has to be in it. */
export interface PodNetwork {
  /** Path of the namespace, as CNI_NETNS has it. */
  readonly netns: string;
  readonly interfaces: readonly PodInterface[];
}

/** One veth pair: the pod's end with everything on it, and the end on the node, which OVS gets as a port. */
export interface PodInterface {
  /** In the pod, for example `eth0`, `ovn-udn1`. */
  readonly name: string;
  /** On the node, unique there. */
  readonly hostName: string;
  readonly mac: Mac;
  /** Of both ends. */
  readonly mtu: number;
  /** Empty: the interface has none (no IPAM). */
  readonly addresses: readonly InterfaceAddress[];
  readonly routes: readonly PodRoute[];
  /** Next hops of default routes, at most one per family. */
  readonly defaultGateways: readonly Ip[];
  /** Of the default routes, where it is less than the interface's. */
  readonly defaultRouteMtu?: number;
  /** IFLA_IFALIAS of the node's end, begins with `ALIAS_PREFIX`: says whose it is, for people and for `list`. */
  readonly alias: string;
  /** False: the pod computes checksums itself, because OVS' userspace datapath forwards packets as they are. */
  readonly txChecksum: boolean;
  readonly hears: Hearing;
}

/** Which frames get to the pod. */
export interface Hearing {
  /** Comes first. */
  readonly shared: SharedChain;
  readonly rules: readonly FrameRule[];
  /** Its own frames are those of a locked pod to the filters of others. */
  readonly isLocked: boolean | undefined;
}

export interface PodRoute {
  readonly dst: Cidr;
  /** Absent: `dst` is on the link. */
  readonly via?: Ip;
  readonly mtu?: number;
}

/** How to find an interface that is to go. */
export type PodInterfaceEnd =
  | { readonly hostName: string }
  | {
      readonly netns: string;
      /** In the pod. */
      readonly name: string;
    };

/** The node's end of an interface. */
export interface HostEnd {
  readonly hostName: string;
  readonly index: number;
  /** Undefined when whoever made it died before it could set it. */
  readonly alias: string | undefined;
}

/** `repaired`: something was there already and had to be completed, changed or made again. */
export type EnsureOutcome = 'created' | 'repaired' | 'unchanged';

/**
 * The interfaces of pods. Calls for one pod take effect in the order in which they were made, and each may be repeated.
 * An abort only ends the wait: the change is made all the same, or not at all.
 */
export interface PodInterfaces {
  /**
   * Makes all interfaces of a pod as desired. When it fails, what this call has made is gone again.
   * @param onLinked called when other programs can use the node's ends, while they and the pod's are being configured: new
   * ones are there, but down until their filters are in place; those that were there before are as desired. Not called for
   * a pod that nothing had to be done for; perhaps called twice.
   * @throws PodInterfaceError
   */
  ensure(pod: PodNetwork, signal?: AbortSignal, onLinked?: () => void): Promise<EnsureOutcome>;

  /**
   * Sets the node's ends up again, where another program has set them down since `ensure`; those that are up stay as they are.
   * @throws NetlinkError of the first that the kernel has refused
   */
  raise(hostNames: readonly string[], signal?: AbortSignal): Promise<void>;

  /** What is not as desired, one message each. More addresses and routes than desired are no difference (CNI CHECK). */
  check(pod: PodNetwork, signal?: AbortSignal): Promise<readonly string[]>;

  /**
   * Deletes interfaces, both ends of each. Settles when they are gone; one that is not there, or whose namespace is not,
   * is success.
   * @throws PodInterfaceError ERR_POD_LINK_FOREIGN when one is not ours; the others are gone then
   */
  remove(ends: readonly PodInterfaceEnd[], signal?: AbortSignal): Promise<void>;

  /**
   * Puts filters again that something else has changed; those of `ensure` included.
   * @param needless `filters` are those of all links, and so much of the others goes
   * @returns the links whose filter was not as desired
   * @throws NetlinkError of the first that the kernel has refused; the others are there then
   */
  keepFilters(
    filters: readonly FrameFilter[],
    needless?: NeedlessFilters,
    signal?: AbortSignal,
  ): Promise<readonly string[]>;

  /**
   * Why the kernel takes none of the filters that `ensure` puts, in its own words; undefined: it does. Changes nothing.
   * @throws NetlinkError when it is unknown
   */
  whyNoFilters(signal?: AbortSignal): Promise<string | undefined>;

  /** All interfaces on the node that are ours, whoever made them; with `aliasPrefix` those whose alias begins with it. */
  list(aliasPrefix?: string, signal?: AbortSignal): Promise<readonly HostEnd[]>;
}
