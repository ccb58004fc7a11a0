import type { Address } from './address/types.ts';
import type { FrameFilter, ObservedFilters } from './frame-filter/types.ts';
import type { KernelOp, OpFailure, RouteFilter, SysctlKey } from './kernel/types.ts';
import type { Link } from './link/types.ts';
import type { NetlinkListener } from './monitor/events.ts';
import type { Neighbour } from './neighbour/types.ts';
import type { PodInterfaces } from './pod-interface/types.ts';
import type { Route } from './route/types.ts';
import type { Rule } from './rule/types.ts';

/** Which objects of a network namespace to read; what is absent is not read. */
export interface Query {
  /** Path of the namespace; the own one when absent. */
  readonly netns?: string;
  readonly links?: boolean;
  readonly addresses?: boolean;
  readonly routes?: readonly RouteFilter[];
  readonly rules?: boolean;
  readonly neighbours?: boolean;
  /** Of some links, or of all. */
  readonly filters?: boolean | readonly FrameFilter[];
  readonly sysctls?: readonly SysctlKey[];
}

/** What was asked for, read one after the other: the kernel has no way to stop the world. */
export interface Snapshot {
  readonly links: readonly Link[];
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
  readonly rules: readonly Rule[];
  readonly neighbours: readonly Neighbour[];
  readonly filters: ObservedFilters;
  /** Settings that do not exist are left out. */
  readonly sysctls: ReadonlyMap<SysctlKey, string>;
}

export interface Changes {
  /** Path of the namespace; the own one when absent. */
  readonly netns?: string;
  readonly ops: readonly KernelOp[];
}

/**
 * The kernel's links, addresses, routes and settings, from any thread. Each call is one batch; batches are done one after
 * the other, in the order of the calls. An abort only ends the wait.
 */
export interface Netlink {
  read(query: Query, signal?: AbortSignal): Promise<Snapshot>;
  /** Applies all operations, in order, also after one that fails. @returns those that failed */
  apply(changes: Changes, signal?: AbortSignal): Promise<readonly OpFailure[]>;
  /**
   * Tells of what changes in the own namespace from now on, whoever changes it. What led to the answer of a call is told
   * before the answer, but that of `pods.ensure` after it. @returns what ends it
   */
  watch(listener: NetlinkListener): () => void;
  readonly pods: PodInterfaces;
  /** Milliseconds that the oldest unanswered call waits; undefined when there is none. A stuck kernel shows here. */
  oldestCallAge(): number | undefined;
}
