/** Finds out what a failed transaction means for whom. */

import { isServerTrouble, OperationError, OutcomeUnknownError, WaitTimedOutError } from '../../errors.ts';
import type { UnitOutcome } from '../plan/outcome.ts';
import type { Work } from './work-list.ts';

export type Verdict =
  /** One of these owners made it fail. */
  | { readonly kind: 'blame'; readonly owners: readonly string[] }
  /** It may have been committed. */
  | { readonly kind: 'unknown' }
  /** Nobody's wish is the reason: the same is to be tried again after a while. */
  | { readonly kind: 'trouble' };

/**
 * @param owners for each operation
 * @param group when the transaction was a try to find the one to blame among these
 */
export const judge = (
  error: unknown,
  owners: readonly (readonly string[])[],
  group: readonly string[] | undefined,
): Verdict => {
  if (error instanceof OutcomeUnknownError) return { kind: 'unknown' };
  if (!(error instanceof OperationError) || isServerTrouble(error) || error instanceof WaitTimedOutError) {
    return { kind: 'trouble' };
  }
  const named = error.suspects.flatMap((index) => owners[index] ?? []);
  const possible = new Set(named.length > 0 ? named : owners.flat());
  const inGroup = group?.filter((owner) => possible.has(owner)) ?? [];
  // What a group needs of others goes with it: when it fails, the group is to blame, which is why groups get smaller.
  const blamed = inGroup.length > 0 ? inGroup : [...possible];
  return blamed.length > 0 ? { kind: 'blame', owners: blamed } : { kind: 'trouble' };
};

/** What can never be written, of a group: it stops all of it, and nothing else. @param isGrouped of owners that may be blamed */
export const unwritable = (
  works: readonly Work[],
  outcomes: ReadonlyMap<string, UnitOutcome>,
  isGrouped: (owner: string) => boolean,
): { readonly owner: string; readonly message: string } | undefined => {
  for (const { id, owners } of works) {
    const outcome = outcomes.get(id);
    if (outcome?.kind !== 'held' || outcome.code !== 'ERR_OVSDB_INVALID') continue;
    const owner = [...owners].find(isGrouped);
    if (owner !== undefined) return { owner, message: outcome.message };
  }
  return undefined;
};
