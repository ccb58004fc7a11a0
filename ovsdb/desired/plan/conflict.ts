/** Keeps rows of ours from being put where another row is: unique indexes of the schema. */
import { sameValue } from '../../codec/equal.ts';
import { defaultValue, type Value } from '../../codec/value.ts';
import type { AnyRow } from '../../replica/row.ts';
import { indexKey } from '../../replica/row-index.ts';
import { uniqueIndexName } from '../../replica/row-store.ts';
import { columnModel, tableModel } from '../../schema/model.ts';
import { describeTarget, foreignId, isForeignRef, isRowRef } from '../identity.ts';
import type { AnyDesiredRow } from '../types.ts';
import type { Lookup } from './lookup.ts';
import type { Held } from './outcome.ts';
import { indexToken, targetToken } from './tokens.ts';

/** The conflict of a row with one that is there. A row of ours that nobody wants is none: it makes room. */
export const conflictOf = (lookup: Lookup, wanted: AnyDesiredRow, existing: AnyRow | undefined): Held | undefined => {
  for (const { index, values } of wantedPlaces(lookup, wanted, existing)) {
    const occupant = occupantOf(lookup, wanted, index, values);
    if (occupant !== undefined) return conflict(lookup, wanted, index, occupant);
  }
  return undefined;
};

/**
 * The conflict of a row with one that the same plan writes.
 * @param places place → key; those of the row are added when there is no conflict
 */
export const plannedConflictOf = (
  lookup: Lookup,
  wanted: AnyDesiredRow,
  existing: AnyRow | undefined,
  places: Map<string, string>,
): Held | undefined => {
  const free: string[] = [];
  for (const { index, values } of wantedPlaces(lookup, wanted, existing)) {
    const place = `${wanted.table}\n${uniqueIndexName(index)}\n${indexKey(values)}`;
    const other = places.get(place);
    if (other !== undefined) return plannedConflict(wanted, index, values, other);
    free.push(place);
  }
  for (const place of free) places.set(place, wanted.key);
  return undefined;
};

/** The row of ours, wanted by nobody, that is where this one is to be. */
export const displaced = (lookup: Lookup, wanted: AnyDesiredRow, existing: AnyRow | undefined): AnyRow[] =>
  wantedPlaces(lookup, wanted, existing).flatMap(({ index, values }) => {
    const row = lookup.actual.store.find(wanted.table, uniqueIndexName(index), indexKey(values))[0];
    return row !== undefined && row !== existing && isLeftOver(lookup, wanted, row) ? [row] : [];
  });

interface Place {
  readonly index: readonly string[];
  readonly values: readonly (string | number | boolean)[];
}

/** The places in unique indexes that the row does not have already. */
const wantedPlaces = (lookup: Lookup, wanted: AnyDesiredRow, existing: AnyRow | undefined): Place[] =>
  (tableModel(lookup.actual.model, wanted.table)?.indexes ?? []).flatMap((index) => {
    if (!lookup.actual.store.hasIndex(wanted.table, uniqueIndexName(index))) return [];
    if (existing !== undefined && index.every((column) => isUnchanged(wanted, existing, column))) return [];
    const values = index.map((column) => wantedValue(lookup, wanted, existing, column));
    const known = values.filter((value) => value !== undefined);
    return known.length === values.length ? [{ index, values: known }] : [];
  });

const isUnchanged = ({ columns }: AnyDesiredRow, existing: AnyRow, column: string): boolean =>
  !Object.hasOwn(columns, column) || sameValue(existing[column], columns[column] as Value);

/** Undefined for a reference to a row that is not there yet, with which no row that is there can be in conflict. */
const wantedValue = (
  lookup: Lookup,
  { table, columns }: AnyDesiredRow,
  existing: AnyRow | undefined,
  name: string,
): string | number | boolean | undefined => {
  const column = columnModel(lookup.actual.model, table, name);
  if (column === undefined) return undefined;
  const value = Object.hasOwn(columns, name) ? columns[name] : (existing?.[name] ?? defaultValue(column));
  if (isRowRef(value)) return lookup.owned(column.key.refTable ?? '', value.ref)?._uuid;
  if (isForeignRef(value)) return lookup.foreign(value)?._uuid;
  return typeof value === 'object' ? undefined : value;
};

const occupantOf = (
  lookup: Lookup,
  wanted: AnyDesiredRow,
  index: readonly string[],
  values: Place['values'],
): AnyRow | undefined => {
  const row = lookup.actual.store.find(wanted.table, uniqueIndexName(index), indexKey(values))[0];
  if (row === undefined || lookup.gone.has(row._uuid) || isLeftOver(lookup, wanted, row)) return undefined;
  return row;
};

const isLeftOver = (lookup: Lookup, { table, key }: AnyDesiredRow, row: AnyRow): boolean => {
  const occupant = lookup.actual.keyOf(table, row);
  if (occupant === undefined) return false;
  return occupant === key || lookup.desired.row(occupant)?.table !== table;
};

const conflict = (lookup: Lookup, { table, key }: AnyDesiredRow, index: readonly string[], row: AnyRow): Held => {
  const occupant = lookup.actual.keyOf(table, row);
  const whose = occupant === undefined ? 'is foreign' : `is "${occupant}"`;
  return {
    kind: 'held',
    code: 'ERR_OVSDB_CONFLICT',
    message: `"${key}": row ${row._uuid} of ${table}, which ${whose}, has the same ${index.join(', ')}`,
    tokens: [indexToken(table, index, row)],
  };
};

const plannedConflict = (
  { table, key }: AnyDesiredRow,
  index: readonly string[],
  values: Place['values'],
  other: string,
): Held => {
  const at = Object.fromEntries(index.map((column, position) => [column, String(values[position])]));
  const id = foreignId({ table, at });
  return {
    kind: 'held',
    code: 'ERR_OVSDB_CONFLICT',
    message: `"${key}" and "${other}" both claim ${describeTarget(id)}`,
    tokens: [targetToken(id), targetToken(other)],
  };
};
