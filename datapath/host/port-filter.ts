/** Filters of the host's own ports as the kernel has them: ports of one kind have equal rules, so these are shared. Pure. */
import { parseMac } from '../../net/mac.ts';
import { type FrameFilter, filterDigest, type ObservedFilters, sharedChain } from '../netlink/frame-filter/types.ts';
import type { DesiredFilter } from './types.ts';

export const frameFilterOf = ({ link, rules }: DesiredFilter): FrameFilter => ({
  ...{ link, rules: [], receiver: NO_POD },
  shared: sharedChain(rules),
});

const NO_POD = { mac: parseMac('00:00:00:00:00:00'), isLocked: undefined };

/** By link; one whose shared rules somebody has deleted has none. */
export const digestsOf = (
  filters: readonly FrameFilter[],
  { digests, shared }: ObservedFilters,
): ReadonlyMap<string, string> =>
  new Map(
    filters.flatMap(({ link, shared: { name } }) => {
      const digest = digests.get(link);
      return digest === undefined || shared.get(name) !== true ? [] : [[link, digest] as const];
    }),
  );

export const desiredDigest = (filter: DesiredFilter): string => filterDigest(frameFilterOf(filter));
