/** Applies the `modify` of an <update2> to a column: ovsdb-server(7), "Update2 Notification". */
import type { Column } from '../schema/column.ts';
import type { ElementIndex, Toggled } from './element-index.ts';
import { isMapValue, isSetValue, type MapValue, newEntries, type Value } from './value.ts';

export interface Modified {
  readonly value: Value;
  /** Only for sets of more than one element. */
  readonly change?: Toggled;
}

/**
 * @param composite whether the column can hold more than one element by the server's schema: only then a difference is sent
 */
export const modified = (before: Value, sent: Value, composite: boolean, elements: ElementIndex): Modified => {
  if (composite && isSetValue(before) && isSetValue(sent)) {
    const change = elements.toggle(before, sent);
    return { value: change.value, change };
  }
  if (composite && isMapValue(before) && isMapValue(sent)) return { value: patched(before, sent) };
  return { value: sent };
};

export const isComposite = ({ max }: Column): boolean => max > 1;

/** A pair that is there already goes, any other comes or replaces the one with its key. */
const patched = (before: MapValue, difference: MapValue): MapValue => {
  const result = newEntries();
  for (const key of Object.keys(before)) {
    const value = before[key];
    if (value !== undefined && !(Object.hasOwn(difference, key) && difference[key] === value)) result[key] = value;
  }
  for (const key of Object.keys(difference)) {
    const value = difference[key];
    if (value !== undefined && before[key] !== value) result[key] = value;
  }
  return result;
};
