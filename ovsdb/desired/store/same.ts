import type { AnyDesiredRow, AnyPatch } from '../types.ts';

/** True when two rows want the same; whether their sets are in the same order counts as a difference. */
export const sameRow = (a: AnyDesiredRow, b: AnyDesiredRow): boolean =>
  a === b || (a.table === b.table && a.key === b.key && same(a.columns, b.columns) && same(a.needs, b.needs));

export const samePatch = (a: AnyPatch, b: AnyPatch): boolean =>
  same(a.at, b.at) && same(a.columns ?? {}, b.columns ?? {}) && same(a.entries ?? {}, b.entries ?? {});

const same = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => same(item, b[index]));
  return !Array.isArray(b) && sameEntries(Object.entries(a), new Map(Object.entries(b)));
};

const sameEntries = (a: readonly [string, unknown][], b: ReadonlyMap<string, unknown>): boolean =>
  a.length === b.size && a.every(([name, value]) => b.has(name) && same(value, b.get(name)));
