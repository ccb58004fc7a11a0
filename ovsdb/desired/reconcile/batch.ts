/** Chooses what goes into the next transaction. */
import type { Work, WorkList } from './work-list.ts';

/** Owners with the same group are never split, as if they were one. Undefined: it is by itself. */
export type GroupOf = (owner: string) => string | undefined;

/**
 * The owners whose units come next: as many as fit, in their order, at least one. What one owner or one group
 * wants is never split; those of a group are next to each other.
 * @param among only these owners, when somebody of them made a transaction fail
 */
export const nextOwners = (
  works: WorkList,
  isBlocked: (owner: string) => boolean,
  maxUnits: number,
  among: ReadonlySet<string> | undefined,
  groupOf: GroupOf,
): string[] => {
  const isNext = (owner: string): boolean => !isBlocked(owner) && (among === undefined || among.has(owner));
  const owners: string[] = [];
  const taken = new Set<string>();
  let groups: Map<string | undefined, string[]> | undefined;
  let units = 0;
  for (const owner of works.dirtyOwners()) {
    const group = groupOf(owner);
    if (!isNext(owner) || (group !== undefined && taken.has(group))) continue;
    if (group !== undefined) groups ??= Map.groupBy(works.dirtyOwners(), groupOf);
    // Of a group all, also who has joined it since somebody of it was suspected.
    const together = group === undefined ? [owner] : (groups?.get(group) ?? []).filter((one) => !isBlocked(one));
    for (const one of together) units += works.dirtyCount(one);
    if (owners.length > 0 && units > maxUnits) break;
    if (group !== undefined) taken.add(group);
    for (const one of together) owners.push(one);
  }
  return owners;
};

/** About the first half of some owners, as `nextOwners` has them, without a part of a group; undefined: there is no smaller part. */
export const fewerOf = (owners: readonly string[], groupOf: GroupOf): string[] | undefined => {
  const isCut = (at: number): boolean => {
    const group = groupOf(owners[at] ?? '');
    return group !== undefined && group === groupOf(owners[at - 1] ?? '');
  };
  const middle = Math.ceil(owners.length / 2);
  let at = middle;
  while (at > 0 && isCut(at)) at -= 1;
  if (at === 0) at = middle;
  while (at < owners.length && isCut(at)) at += 1;
  return at < owners.length ? owners.slice(0, at) : undefined;
};

/** Work that several owners share is done unless all of them are blocked. */
export const isReady = ({ owners }: Work, isBlocked: (owner: string) => boolean): boolean => {
  for (const owner of owners) if (!isBlocked(owner)) return true;
  return false;
};

/** What the names of those begin with that nobody wants: each is about one unit. */
export const NO_OWNER = '(no owner) ';

/** The owner, and those of its group that have something open; the owner may come twice. Walks through all that have, as far as it is asked. */
export function* openGroup(
  owner: string,
  { works, groupOf }: { works: WorkList; groupOf: GroupOf },
): IterableIterator<string> {
  yield owner;
  const group = groupOf(owner);
  if (group === undefined) return;
  for (const one of works.openOwners()) if (groupOf(one) === group) yield one;
}

export const isGroupBusy = (owner: string, list: { works: WorkList; groupOf: GroupOf }): boolean => {
  for (const one of openGroup(owner, list)) if (list.works.isBusy(one)) return true;
  return false;
};

/** Owners, those of one group together. */
export const byGroup = (owners: readonly string[], groupOf: GroupOf): string[][] => {
  const groups = new Map<string, string[]>();
  const units: string[][] = [];
  for (const owner of owners) {
    const group = groupOf(owner);
    const members = group === undefined ? undefined : groups.get(group);
    if (members !== undefined) {
      members.push(owner);
      continue;
    }
    const unit = [owner];
    if (group !== undefined) groups.set(group, unit);
    units.push(unit);
  }
  return units;
};

export const halves = <T>(list: readonly T[]): [T[], T[]] => {
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)];
};
