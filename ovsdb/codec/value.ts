/**
 * Columns as TypeScript values.
 *
 * | column | value |
 * |---|---|
 * | exactly one element | string, number, boolean; a uuid is a string |
 * | at most one | the element, or undefined |
 * | set | readonly array without duplicates; the order means nothing |
 * | map | readonly record |
 *
 * Maps are records and not `Map`s because their keys are few, mostly known to who reads them (`row.options['router-port']`),
 * and the same in many rows, which then share one hidden class: 24 bytes plus 8 for each entry, where the smallest `Map` takes
 * more than 200. Records that come from a server inherit nothing, so that a key such as `__proto__` or `constructor` is
 * nothing special.
 *
 * Integers beyond ±(2^53 − 1) lose precision, as everywhere in JavaScript's JSON.
 */
import type { Column } from '../schema/column.ts';

export type Scalar = string | number | boolean;
export type SetValue = readonly Scalar[];
export type MapValue = Readonly<Record<string, Scalar>>;
export type Value = Scalar | undefined | SetValue | MapValue;

export const EMPTY_SET: SetValue = Object.freeze([]);

/** An object that inherits nothing and still has V8's fast properties, which `Object.create(null)` has not. */
class Entries {}
Object.setPrototypeOf(Entries.prototype, null);

export const newEntries = (): Record<string, Scalar> => new Entries() as Record<string, Scalar>;

export const EMPTY_MAP: MapValue = Object.freeze(newEntries());

export const isSetValue = (value: unknown): value is SetValue => Array.isArray(value);

export const isMapValue = (value: unknown): value is MapValue =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a column of a new row holds when nothing is said: RFC 7047 §5.2.1. */
export const defaultValue = ({ kind, key }: Column): Value => {
  if (kind === 'set') return EMPTY_SET;
  if (kind === 'map') return EMPTY_MAP;
  if (kind === 'optional') return undefined;
  switch (key.type) {
    case 'string':
      return '';
    case 'boolean':
      return false;
    case 'uuid':
      return '00000000-0000-0000-0000-000000000000';
    default:
      return 0;
  }
};
