import type { Mac } from '../../../net/mac.ts';
import { hasCode } from '../errors.ts';
import type { Kernel, KernelOp, OpFailure } from '../kernel/types.ts';
import { type FrameFilter, isFilterCurrent, type NeedlessFilters, type ObservedFilters } from './types.ts';

export interface KeptFilters {
  /** Links whose filter was not as desired. */
  readonly repaired: readonly string[];
  readonly failures: readonly OpFailure[];
}

/**
 * Puts filters that are not in the kernel as they should be. A link that is gone needs none.
 * @param needless undefined: other links have filters, too
 */
export const keepFilters = (
  kernel: Kernel,
  desired: readonly FrameFilter[],
  needless: NeedlessFilters | undefined,
): KeptFilters => {
  const node = kernel.netns();
  const observed = node.frameFilters(needless === undefined ? desired : undefined);
  const stale = desired.filter((filter) => !isFilterCurrent(filter, observed) && node.link(filter.link) !== undefined);
  const ops: KernelOp[] = [
    ...putOps(stale, observed),
    ...(needless === undefined ? [] : needlessOps(kernel, desired, observed, needless)),
  ];
  // Ports of the host share chains, too.
  const failures = node.apply(ops).filter(({ op, error }) => op.op !== 'filter.unshare' || !hasCode(error, 'EBUSY'));
  const failed = new Set(failures.map(({ op }) => op));
  const repaired = ops.flatMap((op) => (op.op === 'filter.put' && !failed.has(op) ? [op.filter.link] : []));
  return { repaired, failures };
};

/** The first filter of each shared chain that is not whole puts that, too. */
const putOps = (stale: readonly FrameFilter[], { shared }: ObservedFilters): KernelOp[] => {
  const whole = new Set([...shared].flatMap(([name, isWhole]) => (isWhole ? [name] : [])));
  return stale.map((filter) => {
    const withShared = !whole.has(filter.shared.name);
    whole.add(filter.shared.name);
    return { op: 'filter.put', filter, withShared };
  });
};

/** Chains that need a shared one go before it. */
const needlessOps = (
  kernel: Kernel,
  desired: readonly FrameFilter[],
  { digests, shared, lockedMacs }: ObservedFilters,
  needless: NeedlessFilters,
): KernelOp[] => {
  const node = kernel.netns();
  const needed = new Set(desired.map((filter) => filter.shared.name));
  const chains = needless.shared ? [...shared.keys()].filter((name) => !needed.has(name)) : [];
  return [
    ...[...digests.keys()]
      .filter((link) => node.link(link) === undefined)
      .map((link) => ({ op: 'filter.delete', link }) as const),
    ...chains.map((name) => ({ op: 'filter.unshare', name }) as const),
    ...strangers(lockedMacs, desired, needless.lockedMacs).map((mac) => ({ op: 'filter.unlock', mac }) as const),
  ];
};

/** MACs that are no locked pod's: with that of a gateway, no pod would hear it any more. */
const strangers = (
  lockedMacs: ReadonlySet<Mac>,
  desired: readonly FrameFilter[],
  known: readonly Mac[] | undefined,
): Mac[] => {
  if (known === undefined) return [];
  const needed = new Set([
    ...known,
    ...desired.flatMap(({ receiver: { mac, isLocked } }) => (isLocked === true ? [mac] : [])),
  ]);
  return [...lockedMacs].filter((mac) => !needed.has(mac));
};
