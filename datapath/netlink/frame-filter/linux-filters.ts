/** The real kernel's frame filters, over a netfilter socket of one namespace. */
import type { Mac } from '../../../net/mac.ts';
import { hasCode, NetlinkError } from '../errors.ts';
import type { NamedRequest, NetlinkSocket } from '../wire/socket.ts';
import {
  addFilter,
  addShared,
  batchEnds,
  decodeChain,
  decodeLockedMacs,
  decodeRule,
  deleteFilter,
  deleteFilters,
  deleteLockedMac,
  deleteShared,
  getChain,
  getLockedMac,
  listChains,
  listLockedMacs,
  listRules,
  probeFilter,
} from './codec.ts';
import {
  EGRESS_MISSING,
  type FrameFilter,
  filterChain,
  isSharedChain,
  linkOfChain,
  NO_FILTERS,
  type ObservedFilters,
} from './types.ts';

/**
 * In one batch, however much has to be replaced. Nearly every call is for a new link, whose shared chain is there: only when
 * the kernel refuses that is more put.
 * @param withShared puts the shared chain as well, whose rules somebody has deleted
 * @throws NetlinkError
 */
export const putFilter = (socket: NetlinkSocket, filter: FrameFilter, withShared: boolean): void => {
  const added = additionOf(socket, filter);
  const before: NamedRequest[] = withShared ? addShared(filter.shared) : [];
  const tried = new Set<string>(withShared ? ['ENOENT'] : []);
  for (;;) {
    try {
      socket.transaction([...before, ...added], batchEnds());
      return;
    } catch (error) {
      if (!hasCode(error, 'EEXIST', 'ENOENT') || tried.has(error.code)) throw explained(error);
      tried.add(error.code);
      if (error.code === 'EEXIST') before.push(deleteFilter(filter.link));
      else before.unshift(...addShared(filter.shared));
    }
  }
};

/** Why the kernel takes no filter; undefined: it does. @throws NetlinkError when it refuses for another reason */
export const whyUnsupported = (socket: NetlinkSocket): string | undefined => {
  try {
    socket.transaction(probeFilter(), batchEnds());
    return undefined;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return undefined;
    // ENOENT: no base chains of family netdev at all (CONFIG_NF_TABLES_NETDEV).
    if (hasCode(error, 'EOPNOTSUPP', 'ENOENT')) return EGRESS_MISSING;
    throw error;
  }
};

const explained = (error: unknown): unknown =>
  hasCode(error, 'EOPNOTSUPP')
    ? new NetlinkError(error.code, `${error.message}: ${EGRESS_MISSING}`, { errno: error.errno })
    : error;

/** Filters of new links in one batch. @returns false when the kernel has refused one of them, and so has none */
export const putTogether = (socket: NetlinkSocket, filters: readonly FrameFilter[]): boolean => {
  try {
    socket.transaction(
      filters.flatMap((filter) => additionOf(socket, filter)),
      batchEnds(),
    );
    return true;
  } catch (error) {
    if (error instanceof NetlinkError && error.errno !== 0) return false;
    throw error;
  }
};

/** Nearly no receiver is known as locked that is not: asking takes less than changing the set, which the monitor reports. */
const additionOf = (socket: NetlinkSocket, filter: FrameFilter): NamedRequest[] => {
  const { mac, isLocked } = filter.receiver;
  const isKnown = isLocked === false && orNone(() => [socket.get(getLockedMac(mac), () => mac)]).length > 0;
  return addFilter(filter, isKnown);
};

/**
 * It is asked for first: until Linux 6.15 it has mostly gone with its link, and a batch that is refused waits until every processor has
 * passed by (net/netfilter/nf_tables_api.c, __nf_tables_abort: synchronize_rcu), 8 to 40 ms in which no other pod is added.
 * @throws NetlinkError ENOENT when there is none
 */
export const removeFilter = (socket: NetlinkSocket, link: string): void => {
  socket.get(getChain(filterChain(link)), decodeChain);
  socket.transaction([deleteFilter(link)], batchEnds());
};

/** @throws NetlinkError EBUSY while a filter has it, ENOENT when there is none */
export const removeShared = (socket: NetlinkSocket, name: string): void => {
  socket.transaction([deleteShared(name)], batchEnds());
};

/** @throws NetlinkError ENOENT when it is not known as a locked pod's */
export const removeLockedMac = (socket: NetlinkSocket, mac: Mac): void => {
  socket.transaction([deleteLockedMac(mac)], batchEnds());
};

/** @throws NetlinkError ENOENT when there is no filter at all */
export const clearFilters = (socket: NetlinkSocket): void => {
  socket.transaction([deleteFilters()], batchEnds());
};

/** @param filters absent: of all links, however many there are */
export const readFilters = (socket: NetlinkSocket, filters?: readonly FrameFilter[]): ObservedFilters => {
  const names = filters && [...new Set(filters.flatMap(({ link, shared }) => [filterChain(link), shared.name]))];
  const chains = names?.flatMap((name) => orNone(() => [socket.get(getChain(name), decodeChain)]));
  const found = (chains ?? socket.dump(listChains(), decodeChain)).filter((chain) => chain !== undefined);
  if (found.length === 0) return NO_FILTERS;
  const rules = (names ?? [undefined]).flatMap((name) => socket.dump(listRules(name), decodeRule));
  const counts = Map.groupBy(rules, (chain) => chain);
  // A chain whose rules somebody has deleted still has its comment.
  const isWhole = ({ chain, comment }: (typeof found)[number]): boolean =>
    comment.endsWith(`/${counts.get(chain)?.length ?? 0}`);
  const digests = found.flatMap((one) => {
    const link = linkOfChain(one.chain);
    return link === undefined ? [] : [[link, isWhole(one) && one.dropsRest ? one.comment : ''] as const];
  });
  return {
    digests: new Map(digests),
    shared: new Map(found.filter(({ chain }) => isSharedChain(chain)).map((one) => [one.chain, isWhole(one)])),
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
