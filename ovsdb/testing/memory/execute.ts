/** Executes operations: RFC 7047 §5.2. Checks that need the whole transaction are in `constraints.ts`. */
import { encodeValue } from '../../codec/encode.ts';
import { sameValue } from '../../codec/equal.ts';
import { isMapValue, isSetValue, type MapValue, type Scalar, type SetValue, type Value } from '../../codec/value.ts';
import type { Column } from '../../schema/column.ts';
import { type DatabaseModel, tableModel } from '../../schema/model.ts';
import type {
  Condition,
  InsertOperation,
  Mutation,
  Operation,
  UpdateOperation,
  WaitOperation,
} from '../../transact/operation.ts';
import type { WireRow, WireValue } from '../../wire/notation.ts';
import { type Contents, columnsOf, decodeWire, defaultRow, encodeRow, type Row, withRow } from './rows.ts';

/** What the server says of a failed operation. */
export class Failure extends Error {
  readonly error: string;

  constructor(error: string, details: string) {
    super(details);
    this.error = error;
  }
}

export interface Execution {
  contents: Contents;
  readonly model: DatabaseModel;
  /** uuid-name → uuid, of the whole transaction. */
  readonly named: ReadonlyMap<string, string>;
  readonly newUuid: () => string;
}

/** Changes `execution.contents`; the result goes to the client. */
export const execute = (execution: Execution, operation: Operation): object => {
  switch (operation.op) {
    case 'insert':
      return insert(execution, operation);
    case 'select':
      return {
        rows: selected(execution, operation.table, operation.where).map(([, row]) =>
          wireRow(execution, operation.table, row, operation.columns),
        ),
      };
    case 'update':
      return changeRows(execution, operation.table, operation.where, (row) => updated(execution, operation, row));
    case 'mutate':
      return changeRows(execution, operation.table, operation.where, (row) =>
        operation.mutations.reduce((it, mutation) => mutated(execution, operation.table, it, mutation), row),
      );
    case 'delete':
      return changeRows(execution, operation.table, operation.where, () => undefined);
    case 'wait':
      return wait(execution, operation);
    case 'abort':
      throw new Failure('aborted', 'aborted by request');
    case 'assert':
      throw new Failure('not owner', `Asserted lock ${operation.lock} not held.`);
    case 'comment':
    case 'commit':
      return {};
  }
};

const insert = (execution: Execution, { table, row, uuid: chosen, 'uuid-name': name }: InsertOperation): object => {
  const uuid = chosen ?? (name === undefined ? undefined : execution.named.get(name)) ?? execution.newUuid();
  checkTable(execution.model, table);
  if (execution.contents.get(table)?.has(uuid)) throw new Failure('duplicate uuid', `${uuid} is in ${table} already`);
  const whole = { ...defaultRow(execution.model, table), ...columns(execution, table, row) };
  execution.contents = withRow(execution.contents, table, uuid, whole);
  return { uuid: ['uuid', uuid] };
};

const updated = (execution: Execution, { table, row }: UpdateOperation, before: Row): Row => {
  for (const name of Object.keys(row)) checkMutable(columnOf(execution.model, table, name), name);
  return { ...before, ...columns(execution, table, row) };
};

const changeRows = (
  execution: Execution,
  table: string,
  where: readonly Condition[],
  change: (row: Row) => Row | undefined,
): object => {
  const rows = selected(execution, table, where);
  for (const [uuid, row] of rows) execution.contents = withRow(execution.contents, table, uuid, change(row));
  return { count: rows.length };
};

const wait = (execution: Execution, { table, where, columns: names, rows, until }: WaitOperation): object => {
  const text = (row: WireRow): string => JSON.stringify(names.map((name) => row[name]));
  const actual = selected(execution, table, where).map(([uuid, row]) =>
    text({ _uuid: ['uuid', uuid], ...wireRow(execution, table, row, names) }),
  );
  const same = JSON.stringify(actual.sort()) === JSON.stringify(rows.map(text).sort());
  if (same !== (until === '==')) throw new Failure('timed out', '"where" clause test failed');
  return {};
};

const selected = (execution: Execution, table: string, where: readonly Condition[]): [string, Row][] => {
  checkTable(execution.model, table);
  const rows = [...(execution.contents.get(table) ?? [])];
  return rows.filter(([uuid, row]) => where.every((condition) => matches(execution, table, uuid, row, condition)));
};

const matches = (
  execution: Execution,
  table: string,
  uuid: string,
  row: Row,
  [name, test, wire]: Condition,
): boolean => {
  const column = name === '_uuid' ? UUID_COLUMN : columnOf(execution.model, table, name);
  const actual = name === '_uuid' ? uuid : row[name];
  const given = decodeWire(column, resolved(execution, wire));
  switch (test) {
    case '==':
      return sameValue(actual, given);
    case '!=':
      return !sameValue(actual, given);
    case 'includes':
      return includes(actual, given);
    case 'excludes':
      return !includes(actual, given);
    default:
      throw new Failure('not supported', `the in-memory database has no "${test}"`);
  }
};

const includes = (actual: Value, given: Value): boolean => {
  if (isMapValue(actual) && isMapValue(given))
    return Object.entries(given).every(([key, value]) => actual[key] === value);
  const elements = asSet(actual);
  return asSet(given).every((element) => elements.includes(element));
};

const mutated = (execution: Execution, table: string, row: Row, [name, mutator, wire]: Mutation): Row => {
  const column = columnOf(execution.model, table, name);
  checkMutable(column, name);
  const before = row[name];
  if (typeof before === 'number' && mutator === '+=' && typeof wire === 'number')
    return { ...row, [name]: before + wire };
  if (mutator !== 'insert' && mutator !== 'delete')
    throw new Failure('not supported', `the in-memory database has no "${mutator}"`);
  const value = resolved(execution, wire);
  const after = isMapValue(before)
    ? mutatedMap(column, before, mutator, value)
    : mutatedSet(column, before, mutator, value);
  checkSize(column, name, after, 'constraint violation');
  return { ...row, [name]: after };
};

const mutatedSet = (column: Column, before: Value, mutator: 'insert' | 'delete', wire: WireValue): Value => {
  const given = asSet(decodeWire({ ...column, kind: 'set' }, wire));
  const kept = asSet(before).filter((element) => !given.includes(element));
  const after = mutator === 'delete' ? kept : [...kept, ...given];
  return column.kind === 'set' ? after : after[0];
};

const mutatedMap = (column: Column, before: MapValue, mutator: 'insert' | 'delete', wire: WireValue): Value => {
  const pairs = Array.isArray(wire) && wire[0] === 'map' ? decodeWire(column, wire) : undefined;
  if (mutator === 'insert') return isMapValue(pairs) ? { ...pairs, ...before } : before;
  const keys = pairs === undefined ? asSet(decodeWire({ ...column, kind: 'set' }, wire)).map(String) : undefined;
  const isGone = ([key, value]: [string, Scalar]): boolean =>
    isMapValue(pairs) ? pairs[key] === value : (keys?.includes(key) ?? false);
  return Object.fromEntries(Object.entries(before).filter((entry) => !isGone(entry)));
};

const columns = (execution: Execution, table: string, row: WireRow): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, wire]) => {
      const column = columnOf(execution.model, table, name);
      const value = decodeWire(column, resolved(execution, wire));
      checkSize(column, name, value, 'syntax error');
      checkEnum(column, value);
      checkLength(column, value);
      return [name, isSetValue(value) ? [...new Set(value)] : value];
    }),
  );

/** Named uuids become uuids, those of inserts that come later too. */
const resolved = (execution: Execution, wire: WireValue): WireValue => {
  if (!Array.isArray(wire)) return wire;
  if (wire[0] === 'named-uuid') return ['uuid', execution.named.get(String(wire[1])) ?? execution.newUuid()];
  return wire.map((part) => resolved(execution, part as WireValue)) as unknown as WireValue;
};

const wireRow = (execution: Execution, table: string, row: Row, names: readonly string[] | undefined): WireRow =>
  encodeRow(execution.model, table, row, names ?? Object.keys(columnsOf(execution.model, table)), false);

const asSet = (value: Value): SetValue =>
  isSetValue(value) ? value : value === undefined || typeof value === 'object' ? [] : [value];

const UUID_COLUMN: Column = { kind: 'scalar', key: { type: 'uuid' }, min: 1, max: 1 };

const checkTable = (model: DatabaseModel, table: string): void => {
  if (tableModel(model, table) === undefined) throw new Failure('syntax error', `No table named ${table}.`);
};

const columnOf = (model: DatabaseModel, table: string, name: string): Column => {
  const column = columnsOf(model, table)[name];
  if (column === undefined) throw new Failure('unknown column', `No column ${name} in table ${table}.`);
  return column;
};

const checkMutable = (column: Column, name: string): void => {
  if (column.immutable) throw new Failure('constraint violation', `Cannot mutate immutable column ${name}.`);
};

/** Generated models have no enums; a database made from a schema has. */
const checkEnum = ({ key: { enum: choices } }: Column, value: Value): void => {
  const bad = choices === undefined ? undefined : asSet(value).find((element) => !choices.includes(element));
  if (bad === undefined) return;
  throw new Failure('constraint violation', `${JSON.stringify(bad)} is not one of the allowed values`);
};

const checkLength = ({ key: { minLength = 0, maxLength = Number.POSITIVE_INFINITY } }: Column, value: Value): void => {
  const bad = asSet(value).find((it) => typeof it === 'string' && (it.length < minLength || it.length > maxLength));
  if (bad === undefined) return;
  throw new Failure('constraint violation', `${JSON.stringify(bad)} is shorter or longer than allowed`);
};

/** A set that is given with a wrong size is not understood; one that gets it by a mutation is refused. */
const checkSize = (column: Column, name: string, value: Value, error: string): void => {
  if (column.kind !== 'set') return;
  const { length } = asSet(value);
  if (length < column.min || length > column.max) {
    throw new Failure(error, `${name}: ${length} elements, ${JSON.stringify(encodeValue(column, value))}`);
  }
};
