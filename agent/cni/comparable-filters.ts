/** Frame filters of pods' links, for `udnctl diff`. Those of the host's own ports are items of the host. */
import type { Comparable, OwnedDifference } from '../../base/reconciler.ts';
import {
  type FrameFilter,
  filterDigest,
  isFilterCurrent,
  type ObservedFilters,
} from '../../datapath/netlink/frame-filter/types.ts';
import type { Netlink } from '../../datapath/netlink/netlink.ts';
import type { PodAttachments } from '../model/attachments.ts';
import { filtersOf, knownPods, type PodFilter } from './filter-keeper.ts';
import type { OvsPorts } from './ovs-ports.ts';

export interface FilterSources {
  /** Of this node. */
  readonly pods: () => Iterable<PodAttachments>;
  readonly ports: Pick<OvsPorts, 'all'>;
  readonly netlink: Pick<Netlink, 'read'>;
}

const PREFIX = 'frame-filter ';
const keyOf = ({ filter: { link } }: PodFilter): string => `${PREFIX}${link}`;
/** The feature that gives pods their ports. */
const ownersOf = ({ pod }: PodFilter): readonly string[] => [`pods:${pod}`];

export const comparableFilters = ({ pods, ports, netlink }: FilterSources): Comparable => {
  const desired = (): PodFilter[] => filtersOf(ports.all(), knownPods(pods()));
  return {
    desired: () => desired().map((one) => ({ key: keyOf(one), owners: ownersOf(one) })),
    differences: async (signal) => {
      const { filters, links } = await netlink.read({ filters: true, links: true }, signal);
      // What was plugged meanwhile has its filter; what was unplugged needs none.
      const here = new Set(links.map(({ name }) => name));
      const all = desired();
      // MACs of pods that are gone are still among the locked ones until the next look: that is no difference to anybody.
      return all.filter(({ filter: { link } }) => here.has(link)).flatMap((one) => differenceOf(one, filters));
    },
  };
};

const differenceOf = (one: PodFilter, observed: ObservedFilters): OwnedDifference[] => {
  const { filter } = one;
  if (isFilterCurrent(filter, observed)) return [];
  const there = { key: keyOf(one), owners: ownersOf(one), desired: textOf(filter) };
  const digest = observed.digests.get(filter.link);
  if (digest === undefined) return [{ ...there, kind: 'missing' }];
  return [{ ...there, kind: 'different', actual: textOfObserved(filter, digest, observed) }];
};

const textOf = (filter: FrameFilter): string => {
  const { isLocked } = filter.receiver;
  return words(filterDigest(filter), filter, true, isLocked);
};

const textOfObserved = (filter: FrameFilter, digest: string, { shared, lockedMacs }: ObservedFilters): string => {
  const { mac, isLocked } = filter.receiver;
  return words(
    digest,
    filter,
    shared.get(filter.shared.name) === true,
    isLocked === undefined ? isLocked : lockedMacs.has(mac),
  );
};

/** A chain without all its rules, or with another policy, has no digest. */
const words = (
  digest: string,
  { shared, receiver: { mac } }: FrameFilter,
  isWhole: boolean,
  isLocked: boolean | undefined,
): string =>
  [
    digest === '' ? 'rules or policy changed' : `rules ${digest}, policy drop`,
    `${shared.name} ${isWhole ? 'whole' : 'not whole'}`,
    ...(isLocked === undefined ? [] : [`${mac} ${isLocked ? 'locked' : 'not locked'}`]),
  ].join('; ');
