/** Compares single columns and writes what differs, the shorter way: the whole value, or the difference. */
import { encodeAtom, encodeKey } from '../../codec/encode.ts';
import { isMapValue, type MapValue, type Scalar, type SetValue, type Value } from '../../codec/value.ts';
import { elementsOf } from '../../replica/element-change.ts';
import type { AnyRow } from '../../replica/row.ts';
import type { Column } from '../../schema/column.ts';
import type { WireAtom } from '../../wire/notation.ts';
import type { Element } from './element.ts';
import type { PendingOperations, RowAddress } from './pending.ts';

/** A value of one element, or of none. True when it differs. */
export const planScalar = (
  pending: PendingOperations,
  address: RowAddress,
  name: string,
  actual: Value,
  wanted: Element | undefined,
): boolean => {
  if (wanted === undefined ? actual === undefined : wanted.scalar !== undefined && actual === wanted.scalar)
    return false;
  pending.set(address, name, wanted === undefined ? ['set', []] : wanted.atom);
  return true;
};

/** A set that is to have exactly these elements. True when it differs. */
export const planSet = (
  pending: PendingOperations,
  address: RowAddress,
  name: string,
  { row, column }: { row: AnyRow; column: Column },
  wanted: readonly Element[],
): boolean => {
  const actual = new Set(elementsOf(row, name));
  const known = new Set(wanted.map(({ scalar }) => scalar));
  const add = wanted.filter(({ scalar }) => scalar === undefined || !actual.has(scalar));
  const remove = [...actual].filter((element) => !known.has(element));
  if (add.length + remove.length === 0) return false;
  // A set that must have some elements may not lose them for a moment.
  const mustBeWhole = column.min > 0 || Number.isFinite(column.max);
  if (mustBeWhole || add.length + remove.length >= known.size) {
    pending.set(address, name, ['set', distinctAtoms(wanted)]);
  } else {
    pending.changeElements(address, name, scalarAtoms(column, remove), distinctAtoms(add));
  }
  return true;
};

/** A map that is to have exactly these entries. True when it differs. */
export const planMap = (
  pending: PendingOperations,
  address: RowAddress,
  name: string,
  { row, column }: { row: AnyRow; column: Column },
  wanted: ReadonlyMap<string, Element>,
): boolean => {
  const actual = mapOf(row[name]);
  const gone = Object.keys(actual).filter((key) => !wanted.has(key));
  const changed = [...wanted].filter(([key, element]) => isOther(actual, key, element));
  if (gone.length + changed.length === 0) return false;
  const replaced = changed.map(([key]) => key).filter((key) => Object.hasOwn(actual, key));
  const keyAtom = (key: string): WireAtom => encodeKey(column.key, key);
  if (gone.length + replaced.length + changed.length >= wanted.size) {
    pending.set(address, name, ['map', [...wanted].map(([key, { atom }]) => [keyAtom(key), atom])]);
  } else {
    const pairs = changed.map(([key, { atom }]) => [keyAtom(key), atom] as const);
    pending.changeEntries(address, name, [...gone, ...replaced].map(keyAtom), pairs);
  }
  return true;
};

/** A map of which only these entries are managed; undefined: there must be none. True when it differs. */
export const planEntries = (
  pending: PendingOperations,
  address: RowAddress,
  name: string,
  { row, column }: { row: AnyRow; column: Column },
  wanted: ReadonlyMap<string, Element | undefined>,
): boolean => {
  const actual = mapOf(row[name]);
  const remove: WireAtom[] = [];
  const add: (readonly [WireAtom, WireAtom])[] = [];
  for (const [key, element] of wanted) {
    const isThere = Object.hasOwn(actual, key);
    if (element === undefined ? !isThere : !isOther(actual, key, element)) continue;
    if (isThere) remove.push(encodeKey(column.key, key));
    if (element !== undefined) add.push([encodeKey(column.key, key), element.atom]);
  }
  if (remove.length + add.length === 0) return false;
  pending.changeEntries(address, name, remove, add);
  return true;
};

export const scalarAtoms = (column: Column, elements: SetValue): WireAtom[] =>
  elements.map((element) => encodeAtom(column.key, element));

const isOther = (actual: MapValue, key: string, { scalar }: Element): boolean =>
  scalar === undefined || !Object.hasOwn(actual, key) || actual[key] !== scalar;

const mapOf = (value: Value): Readonly<Record<string, Scalar>> => (isMapValue(value) ? value : {});

/** A set on the wire must not have an element twice. */
export const distinctAtoms = (elements: readonly Element[]): WireAtom[] => [
  ...new Map(elements.map(({ atom }) => [Array.isArray(atom) ? atom.join() : atom, atom])).values(),
];
