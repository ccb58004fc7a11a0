/** The real kernel's frame filters, over a netfilter socket of one namespace. */
import { hasCode } from '../errors.ts';
import type { NetlinkSocket } from '../wire/socket.ts';
import {
  addFilter,
  batchEnds,
  decodeChain,
  decodeLockedMacs,
  decodeRule,
  deleteFilter,
  deleteFilters,
  getChain,
  listChains,
  listLockedMacs,
  listRules,
} from './codec.ts';
import { type FrameFilter, NO_FILTERS, type ObservedFilters } from './types.ts';

/** One that is there is replaced in the same batch as it is deleted. @throws NetlinkError */
export const putFilter = (socket: NetlinkSocket, filter: FrameFilter): void => {
  try {
    socket.transaction(addFilter(filter), batchEnds());
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    socket.transaction([deleteFilter(filter.link), ...addFilter(filter)], batchEnds());
  }
};

/** @throws NetlinkError ENOENT when there is none */
export const removeFilter = (socket: NetlinkSocket, link: string): void => {
  socket.transaction([deleteFilter(link)], batchEnds());
};

/** @throws NetlinkError ENOENT when there is no filter at all */
export const clearFilters = (socket: NetlinkSocket): void => {
  socket.transaction([deleteFilters()], batchEnds());
};

/** @param links absent: of all, however many there are */
export const readFilters = (socket: NetlinkSocket, links?: readonly string[]): ObservedFilters => {
  const chains = links?.flatMap((link) => orNone(() => [socket.get(getChain(link), decodeChain)]));
  const found = (chains ?? socket.dump(listChains(), decodeChain)).filter((chain) => chain !== undefined);
  if (found.length === 0) return NO_FILTERS;
  const rules = (links ?? [undefined]).flatMap((link) => socket.dump(listRules(link), decodeRule));
  const counts = Map.groupBy(rules, (link) => link);
  // A chain whose rules somebody has deleted still has its comment.
  const digest = ({ link, comment }: (typeof found)[number]): string =>
    comment.endsWith(`/${counts.get(link)?.length ?? 0}`) ? comment : '';
  return {
    digests: new Map(found.map((chain) => [chain.link, digest(chain)])),
    lockedMacs: new Set(orNone(() => socket.dump(listLockedMacs(), decodeLockedMacs).flat())),
  };
};

const orNone = <T>(read: () => T[]): T[] => {
  try {
    return read();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
};
