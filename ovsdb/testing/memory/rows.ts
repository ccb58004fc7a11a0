/** The contents of the in-memory database: immutable tables of immutable rows, so that a failed transaction costs nothing. */
import { decoderOf } from '../../codec/decode.ts';
import { encodeValue } from '../../codec/encode.ts';
import { sameValue } from '../../codec/equal.ts';
import { defaultValue, type Value } from '../../codec/value.ts';
import type { Column } from '../../schema/column.ts';
import { type DatabaseModel, tableModel } from '../../schema/model.ts';
import type { WireRow, WireValue } from '../../wire/notation.ts';

export type Row = Readonly<Record<string, Value>>;
export type Rows = ReadonlyMap<string, Row>;
export type Contents = ReadonlyMap<string, Rows>;

export const emptyContents = (model: DatabaseModel): Contents =>
  new Map(Object.keys(model.tables).map((table) => [table, new Map()]));

export const withRow = (contents: Contents, table: string, uuid: string, row: Row | undefined): Contents => {
  const rows = new Map(contents.get(table));
  if (row === undefined) rows.delete(uuid);
  else rows.set(uuid, row);
  return new Map(contents).set(table, rows);
};

export const columnsOf = (model: DatabaseModel, table: string): Readonly<Record<string, Column>> =>
  tableModel(model, table)?.columns ?? {};

export const defaultRow = (model: DatabaseModel, table: string): Row =>
  Object.fromEntries(Object.entries(columnsOf(model, table)).map(([name, column]) => [name, defaultValue(column)]));

export const decodeWire = (column: Column, wire: WireValue): Value => decoderOf(column)(wire);

/** A row as it goes over the wire, of the given columns; `sparse` leaves out what has its default value. */
export const encodeRow = (
  model: DatabaseModel,
  table: string,
  row: Row,
  columns: readonly string[],
  sparse: boolean,
): WireRow => {
  const result: Record<string, WireValue> = {};
  for (const name of columns) {
    const column = columnsOf(model, table)[name];
    if (column === undefined || (sparse && sameValue(row[name], defaultValue(column)))) continue;
    result[name] = encodeValue(column, row[name]);
  }
  return result;
};
