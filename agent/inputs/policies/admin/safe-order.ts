/**
 * In which order rules go to other places, so that no two are the other way around on the way. Each rule is an ACL; many are more than one
 * transaction, and between two of these what is denied could be decided by an allow that comes behind.
 */
import type { AdminRuleFact } from '../../../model/policies/facts.ts';
import type { SiteSet, SiteState } from './admin-state.ts';

/** Those that go up, the first first; those that go down, the last first; then those that had no place. @param placeOf undefined: it has none */
export const inSafeOrder = <Value>(
  sites: ReadonlyMap<SiteState, Value>,
  placeOf: (site: SiteState) => number | undefined,
): [SiteState, Value][] => {
  const all = [...sites].map((entry) => ({ entry, turn: turnOf(entry[0].first, placeOf(entry[0])) }));
  return all.sort((a, b) => a.turn[0] - b.turn[0] || a.turn[1] - b.turn[1]).map(({ entry }) => entry);
};

/** By id: rules that are there, and go to another place. */
export const movesOf = (site: SiteState, next: ReadonlyMap<string, SiteSet>): [id: string, fact: AdminRuleFact][] => {
  const moves = [...next].flatMap(([set, { rules }]) =>
    [...rules].flatMap(([id, { fact }]): { id: string; fact: AdminRuleFact; by: number }[] => {
      const before = site.sets.get(set)?.rules.get(id)?.fact.priority;
      return before === undefined || before === fact.priority ? [] : [{ id, fact, by: fact.priority - before }];
    }),
  );
  return moves
    .sort((a, b) => (a.by > 0 ? b.fact.priority - a.fact.priority : a.fact.priority - b.fact.priority))
    .map(({ id, fact }) => [id, fact]);
};

/** Those that go apart or towards each other never meet. */
const turnOf = (before: number | undefined, after: number | undefined): [group: number, within: number] => {
  if (before === undefined) return [2, 0];
  if (after === undefined) return [0, Number.NEGATIVE_INFINITY];
  return after > before ? [0, -after] : [1, after];
};
