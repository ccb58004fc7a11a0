/** What the worker does, by name. Runs where the kernel is, in the worker's thread. */
import { keepFilters } from '../frame-filter/keep.ts';
import { type FrameFilter, type NeedlessFilters, NO_FILTERS } from '../frame-filter/types.ts';
import type { Kernel } from '../kernel/types.ts';
import type { Changes, Query, Snapshot } from '../netlink.ts';
import { checkPod } from '../pod-interface/check.ts';
import { ensurePod } from '../pod-interface/ensure.ts';
import { listHostEnds } from '../pod-interface/list.ts';
import { raiseHostEnds } from '../pod-interface/raise.ts';
import { removePodInterfaces } from '../pod-interface/remove.ts';
import type { EnsureOutcome, HostEnd, PodInterfaceEnd, PodNetwork } from '../pod-interface/types.ts';
import { toWireError, type WireError } from './wire-error.ts';

export interface NetlinkService {
  read(query: Query): Snapshot;
  /** Those that failed, by their place in `changes.ops`. */
  apply(changes: Changes): { readonly index: number; readonly error: WireError }[];
  /** @param onEnsured called with the result before the pod's namespace is let go of: somebody waits for it */
  ensurePod(pod: PodNetwork, onLinked?: () => void, onEnsured?: (outcome: EnsureOutcome) => void): EnsureOutcome;
  raiseHostEnds(hostNames: readonly string[]): void;
  checkPod(pod: PodNetwork): string[];
  removePodInterfaces(ends: readonly PodInterfaceEnd[]): Promise<void>;
  keepFilters(filters: readonly FrameFilter[], needless?: NeedlessFilters): readonly string[];
  whyNoFilters(): string | undefined;
  listHostEnds(aliasPrefix?: string): HostEnd[];
}

/** Every method is one batch: it lets go of the namespaces of pods when it is done, so that they can vanish. */
export const netlinkService = (kernel: Kernel): NetlinkService => {
  const batch =
    <A extends unknown[], R>(method: (kernel: Kernel, ...args: A) => R) =>
    (...args: A): R => {
      try {
        return method(kernel, ...args);
      } finally {
        kernel.release();
      }
    };
  return {
    read: batch(read),
    apply: batch(apply),
    ensurePod: batch((own, pod, onLinked, onEnsured) => {
      const outcome = ensurePod(own, pod, onLinked);
      onEnsured?.(outcome);
      return outcome;
    }),
    raiseHostEnds: batch(raiseHostEnds),
    checkPod: batch(checkPod),
    removePodInterfaces: batch(removePodInterfaces),
    keepFilters: batch(keep),
    whyNoFilters: batch((own) => own.netns().whyNoFilters()),
    listHostEnds: batch(listHostEnds),
  };
};

const keep = (kernel: Kernel, filters: readonly FrameFilter[], needless?: NeedlessFilters): readonly string[] => {
  const { repaired, failures } = keepFilters(kernel, filters, needless);
  const [failure] = failures;
  if (failure !== undefined) throw failure.error;
  return repaired;
};

const read = (kernel: Kernel, query: Query): Snapshot => {
  const { netns, links, addresses, routes = [], rules, neighbours, filters, sysctls = [] } = query;
  const from = kernel.netns(netns);
  // Else a reported change would be read as it was before, and no further event would follow.
  if (routes.length > 0) from.settle();
  return {
    links: links === true ? from.links() : [],
    addresses: addresses === true ? from.addresses() : [],
    routes: routes.flatMap((filter) => from.routes(filter)),
    rules: rules === true ? from.rules() : [],
    neighbours: neighbours === true ? from.neighbours() : [],
    filters:
      filters === undefined || filters === false
        ? NO_FILTERS
        : from.frameFilters(filters === true ? undefined : filters),
    sysctls: new Map(
      sysctls.flatMap((key) => {
        const value = from.sysctl(key);
        return value === undefined ? [] : [[key, value] as const];
      }),
    ),
  };
};

const apply = (kernel: Kernel, { netns, ops }: Changes): { index: number; error: WireError }[] =>
  kernel
    .netns(netns)
    .apply(ops)
    .map(({ op, error }) => ({ index: ops.indexOf(op), error: toWireError(error) }));
