/** What a monitor sends for a change of contents: `<table-updates>` and `<table-updates2>`. */
import { encodeValue } from '../../codec/encode.ts';
import { sameValue } from '../../codec/equal.ts';
import { isMapValue, isSetValue, type Value } from '../../codec/value.ts';
import type { DatabaseModel } from '../../schema/model.ts';
import type { WireRow, WireValue } from '../../wire/notation.ts';
import { type Contents, columnsOf, encodeRow, type Row } from './rows.ts';

export type Columns = ReadonlyMap<string, readonly string[]>;
type Updates = Record<string, Record<string, object>>;

export const updates1 = (model: DatabaseModel, columns: Columns, before: Contents, after: Contents): Updates =>
  differences(columns, before, after, (table, old, row) => {
    const names = columns.get(table) ?? [];
    const whole = (it: Row): WireRow => encodeRow(model, table, it, names, false);
    return { ...(old !== undefined && { old: whole(old) }), ...(row !== undefined && { new: whole(row) }) };
  });

export const updates2 = (
  model: DatabaseModel,
  columns: Columns,
  before: Contents,
  after: Contents,
  kind: 'initial' | 'insert',
): Updates =>
  differences(columns, before, after, (table, old, row) => {
    if (row === undefined) return { delete: null };
    const names = columns.get(table) ?? [];
    if (old === undefined) return { [kind]: encodeRow(model, table, row, names, true) };
    return { modify: modification(model, table, old, row, names) };
  });

const differences = (
  columns: Columns,
  before: Contents,
  after: Contents,
  update: (table: string, old: Row | undefined, row: Row | undefined) => object,
): Updates => {
  const result: Updates = {};
  for (const [table, names] of columns) {
    const oldRows = before.get(table);
    const newRows = after.get(table);
    if (oldRows === newRows) continue;
    for (const uuid of new Set([...(oldRows?.keys() ?? []), ...(newRows?.keys() ?? [])])) {
      const old = oldRows?.get(uuid);
      const row = newRows?.get(uuid);
      if (old !== undefined && row !== undefined && names.every((name) => sameValue(old[name], row[name]))) continue;
      result[table] = { ...result[table], [uuid]: update(table, old, row) };
    }
  }
  return result;
};

const modification = (model: DatabaseModel, table: string, old: Row, row: Row, names: readonly string[]): WireRow => {
  const result: Record<string, WireValue> = {};
  for (const name of names) {
    const column = columnsOf(model, table)[name];
    if (column === undefined || sameValue(old[name], row[name])) continue;
    const sent = column.max > 1 ? difference(old[name], row[name]) : row[name];
    result[name] = encodeValue(column, sent);
  }
  return result;
};

const difference = (old: Value, now: Value): Value => {
  if (isSetValue(old) && isSetValue(now)) {
    return [...old.filter((element) => !now.includes(element)), ...now.filter((element) => !old.includes(element))];
  }
  if (!isMapValue(old) || !isMapValue(now)) return now;
  const gone = Object.entries(old).filter(([key]) => !Object.hasOwn(now, key));
  const changed = Object.entries(now).filter(([key, value]) => old[key] !== value);
  return Object.fromEntries([...gone, ...changed]);
};
