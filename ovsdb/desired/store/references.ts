import { elementId, isForeignRef, isRowRef } from '../identity.ts';
import type { AnyDesiredRow, DesiredElement, DesiredValue, ForeignRef, RowRef } from '../types.ts';

/** The references in a value. */
export const referencesIn = (value: DesiredValue): readonly (RowRef | ForeignRef)[] => {
  if (isRowRef(value) || isForeignRef(value)) return [value];
  if (typeof value !== 'object') return NONE;
  const elements: readonly (DesiredElement | undefined)[] = Array.isArray(value) ? value : Object.values(value);
  const [first] = elements;
  // Elements are all of one kind.
  if (!isRowRef(first) && !isForeignRef(first)) return NONE;
  return elements.filter((element) => isRowRef(element) || isForeignRef(element));
};

/** The keys of the rows that a row refers to, each once. */
export const referredKeys = (row: AnyDesiredRow): ReadonlySet<string> => {
  let keys: Set<string> | undefined;
  for (const column in row.columns) {
    for (const reference of referencesIn(row.columns[column])) {
      if (!isRowRef(reference)) continue;
      keys ??= new Set();
      keys.add(elementId(reference));
    }
  }
  return keys ?? NO_KEYS;
};

const NONE: readonly never[] = [];
const NO_KEYS: ReadonlySet<string> = new Set();
