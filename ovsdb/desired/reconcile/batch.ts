/** Chooses what goes into the next transaction. */
import type { Work, WorkList } from './work-list.ts';

/**
 * The owners whose units come next: as many as fit, in their order, at least one. What one owner wants is never split.
 * @param among only these owners, when somebody of them made a transaction fail
 */
export const nextOwners = (
  works: WorkList,
  isBlocked: (owner: string) => boolean,
  maxUnits: number,
  among: ReadonlySet<string> | undefined,
): string[] => {
  const owners: string[] = [];
  let units = 0;
  for (const owner of works.dirtyOwners()) {
    if (isBlocked(owner) || (among !== undefined && !among.has(owner))) continue;
    units += works.dirtyCount(owner);
    if (owners.length > 0 && units > maxUnits) break;
    owners.push(owner);
  }
  return owners;
};

/** Work that several owners share is done unless all of them are blocked. */
export const isReady = ({ owners }: Work, isBlocked: (owner: string) => boolean): boolean => {
  for (const owner of owners) if (!isBlocked(owner)) return true;
  return false;
};

export const halves = <T>(list: readonly T[]): [T[], T[]] => {
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)];
};
