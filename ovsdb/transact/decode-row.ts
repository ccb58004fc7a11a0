import { decoderOf } from '../codec/decode.ts';
import { scalar } from '../schema/column.ts';
import { columnModel, type DatabaseModel, type TableName } from '../schema/model.ts';
import type { WireRow } from '../wire/notation.ts';

/** A row of a `select`'s result; it has the columns that were asked for. Columns that the model has not are left out. */
export const decodeRow = <DB, T extends TableName<DB>>(
  model: DatabaseModel<DB>,
  table: T,
  row: WireRow,
): Partial<DB[T]> => {
  const untyped = model as unknown as DatabaseModel;
  const entries = Object.entries(row).flatMap(([name, value]) => {
    const column = name === '_uuid' ? UUID_COLUMN : columnModel(untyped, table, name);
    return column === undefined ? [] : [[name, decoderOf(column)(value)] as const];
  });
  return Object.fromEntries(entries) as Partial<DB[T]>;
};

const UUID_COLUMN = scalar('uuid');
