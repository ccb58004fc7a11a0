import type { Kernel, KernelOp, OpFailure } from '../kernel/types.ts';
import { type FrameFilter, isFilterCurrent } from './types.ts';

export interface KeptFilters {
  /** Links whose filter was not as wanted. */
  readonly repaired: readonly string[];
  readonly failures: readonly OpFailure[];
}

/**
 * Puts filters that are not in the kernel as they should be. A link that is gone needs none.
 * @param isAll no other link has a filter: those that have waited for a link since it went away (Linux 6.16) go
 */
export const keepFilters = (kernel: Kernel, wanted: readonly FrameFilter[], isAll: boolean): KeptFilters => {
  const node = kernel.netns();
  const observed = node.frameFilters(isAll ? undefined : wanted.map(({ link }) => link));
  const stale = wanted.filter((filter) => !isFilterCurrent(filter, observed) && node.link(filter.link) !== undefined);
  const links = new Set(isAll ? [...observed.digests.keys()].filter((link) => node.link(link) === undefined) : []);
  const ops: KernelOp[] = [
    ...stale.map((filter) => ({ op: 'filter.put', filter }) as const),
    ...[...links].map((link) => ({ op: 'filter.delete', link }) as const),
  ];
  const failures = node.apply(ops);
  const failed = new Set(failures.map(({ op }) => op));
  const repaired = ops.flatMap((op) => (op.op === 'filter.put' && !failed.has(op) ? [op.filter.link] : []));
  return { repaired, failures };
};
