import { EMPTY_SET, isSetValue, type SetValue, type Value } from '../codec/value.ts';
import type { AnyRow, ElementChange, RowChange } from './row.ts';

const NOTHING: ElementChange = { added: EMPTY_SET, removed: EMPTY_SET };

/** The elements that came to or went from a set, or from an optional or scalar column seen as a set. */
export const elementChange = (change: RowChange, column: string): ElementChange => {
  const known = change.sets?.[column];
  if (known !== undefined) return known;
  const before = elementsOf(change.before, column);
  const after = elementsOf(change.after, column);
  if (before === after) return NOTHING;
  return { added: difference(after, before), removed: difference(before, after) };
};

export const elementsOf = (row: AnyRow | undefined, column: string): SetValue => asSet(row?.[column]);

const asSet = (value: Value): SetValue => {
  if (isSetValue(value)) return value;
  return value === undefined || typeof value === 'object' ? EMPTY_SET : [value];
};

const difference = (a: SetValue, b: SetValue): SetValue => {
  if (a.length === 0 || b.length === 0) return a;
  const other = new Set(b);
  return a.filter((element) => !other.has(element));
};
