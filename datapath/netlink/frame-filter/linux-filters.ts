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
  listChains,
  listLockedMacs,
  listRules,
} from './codec.ts';
import type { FrameFilter, ObservedFilters } from './types.ts';

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

export const readFilters = (socket: NetlinkSocket): ObservedFilters => {
  const chains = socket.dump(listChains(), decodeChain);
  if (chains.length === 0) return { digests: new Map(), lockedMacs: new Set() };
  const rules = Map.groupBy(socket.dump(listRules(), decodeRule), (link) => link);
  // A chain whose rules somebody has deleted still has its comment.
  const digest = ({ link, comment }: { link: string; comment: string }): string =>
    comment.endsWith(`/${rules.get(link)?.length ?? 0}`) ? comment : '';
  return {
    digests: new Map(chains.map((chain) => [chain.link, digest(chain)])),
    lockedMacs: new Set(lockedMacs(socket)),
  };
};

const lockedMacs = (socket: NetlinkSocket) => {
  try {
    return socket.dump(listLockedMacs(), decodeLockedMacs).flat();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
};
