/** Finds what is wrong with a wish by itself: no change of the database can make it right. */
import { messageOf } from '../../../base/error-message.ts';
import { encodeAtom, encodeValue } from '../../codec/encode.ts';
import { SchemaError } from '../../errors.ts';
import type { Base } from '../../schema/column.ts';
import { columnModel } from '../../schema/model.ts';
import type { WireAtom } from '../../wire/notation.ts';
import { isForeignRef, isRowRef } from '../identity.ts';
import type { AnyDesiredRow, AnyMember } from '../types.ts';
import { type ActualRows, canHaveMark, isMarked } from './actual-rows.ts';
import { identifyingIndexes } from './lookup.ts';
import type { Held } from './outcome.ts';

export const invalidity = (actual: ActualRows, row: AnyDesiredRow): Held | undefined => {
  const { store, model } = actual;
  if (!store.hasTable(row.table)) return invalid(`"${row.key}": ${row.table} is not replicated`);
  if (isMarked(model, row.table) && !canHaveMark(store, row.table)) {
    return invalid(`"${row.key}": ${row.table} is replicated without external_ids, where the mark of the row would be`);
  }
  if (isMarked(model, row.table) && !store.supports(row.table, 'external_ids')) {
    // Written without it, it would be written again and again.
    return invalid(`"${row.key}": the server's ${row.table} has no external_ids, where the mark of the row would be`);
  }
  for (const [name, value] of Object.entries(row.columns)) {
    const problem = columnProblem(actual, row.table, name, value);
    if (problem !== undefined) return invalid(`"${row.key}": ${problem}`);
  }
  if (!isMarked(model, row.table) && identifyingIndexes(actual, row).length === 0) {
    return invalid(`"${row.key}": a row of ${row.table} cannot be recognised without the columns of a unique index`);
  }
  return undefined;
};

export const memberInvalidity = (actual: ActualRows, { table, column: name, value }: AnyMember): Held | undefined => {
  if (!actual.store.hasColumn(table, name)) return invalid(`${table}.${name} is not replicated`);
  const column = columnModel(actual.model, table, name);
  if (column === undefined || column.kind === 'map') return invalid(`${table}.${name} is not a set`);
  return attempt(() => placeholder(column.key, value), `${table}.${name}`);
};

export const columnProblem = (actual: ActualRows, table: string, name: string, value: unknown): string | undefined => {
  const column = columnModel(actual.model, table, name);
  if (column === undefined) return `${table} has no column ${name}`;
  if (!actual.store.hasColumn(table, name)) return `${table}.${name} is not replicated`;
  return attempt(() => encodeValue(column, value, placeholder), name)?.message;
};

/** References are written as if they were resolved. */
const placeholder = (base: Base, value: unknown): WireAtom => {
  if (base.type !== 'uuid' || (!isRowRef(value) && !isForeignRef(value)))
    return withinLength(base, encodeAtom(base, value));
  return ['named-uuid', 'row'];
};

/** Found out by the server it would be too late: what the row belongs to may be written without it. */
const withinLength = ({ minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Base, atom: WireAtom): WireAtom => {
  const length = typeof atom === 'string' ? [...atom].length : undefined;
  if (length === undefined || (length >= minLength && length <= maxLength)) return atom;
  const limit = length > maxLength ? `at most ${maxLength}` : `at least ${minLength}`;
  throw new SchemaError(`expected ${limit} characters, got ${length}: ${JSON.stringify(atom).slice(0, 80)}`);
};

const attempt = (encode: () => unknown, where: string): Held | undefined => {
  try {
    encode();
    return undefined;
  } catch (error) {
    return invalid(`${where}: ${messageOf(error)}`);
  }
};

const invalid = (message: string): Held => ({ kind: 'held', code: 'ERR_OVSDB_INVALID', message, tokens: [] });
