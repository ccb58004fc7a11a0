/** The difference between the desired state and what is there, for people. */
import type { Difference } from '../../base/reconciler.ts';
import type { Netlink } from '../netlink/netlink.ts';
import { assess, isRight } from './assessment.ts';
import { DesiredIndex } from './desired-index.ts';
import { EVERYTHING, Mirror } from './mirror.ts';
import type { HostOwnership } from './ownership.ts';
import { digestsOf, frameFilterOf } from './port-filter.ts';
import { ownedKeys, removalStep } from './removal.ts';
import type { HostItem } from './types.ts';
import { actualWords, desiredWords } from './words.ts';

export interface DifferenceInput {
  readonly netlink: Pick<Netlink, 'read'>;
  readonly ownership: HostOwnership;
  readonly desired: ReadonlyMap<string, HostItem>;
  readonly remembered: ReadonlySet<string>;
}

/** Sorted by key. */
export const findDifferences = async (input: DifferenceInput, signal?: AbortSignal): Promise<Difference[]> => {
  const { netlink, ownership, desired, remembered } = input;
  const sysctls = [...desired.values()].flatMap((item) => (item.kind === 'sysctl' ? [item.sysctl.key] : []));
  const filters = [...desired.values()].flatMap((item) => (item.kind === 'filter' ? [frameFilterOf(item.filter)] : []));
  const snapshot = await netlink.read({ ...EVERYTHING, sysctls, filters }, signal);
  const mirror = new Mirror();
  mirror.load(snapshot);
  mirror.loadSysctls(sysctls, snapshot.sysctls);
  mirror.loadFilters(
    filters.map(({ link }) => link),
    digestsOf(filters, snapshot.filters),
  );
  const index = new DesiredIndex(ownership);
  index.update(desired, 'all');
  const situation = { mirror, index, ownership, remembered };
  const found: Difference[] = [];
  for (const [key, item] of desired) {
    if (isRight(assess(item, situation))) continue;
    const actual = actualWords(key, mirror);
    const kind = actual === undefined ? 'missing' : 'different';
    found.push({ key, kind, desired: desiredWords(item), actual });
  }
  for (const key of ownedKeys(situation)) {
    if (desired.has(key) || removalStep(key, situation).length === 0) continue;
    found.push({ key, kind: 'unwanted', actual: actualWords(key, mirror) });
  }
  return found.sort((a, b) => (a.key < b.key ? -1 : 1));
};
