/** Writes transactions with the types of a database. Nothing is sent: `session.transact(transaction.operations)` does that. */
import { type AtomEncoder, encodeAtom, encodeMap, encodeSet, encodeValue } from '../codec/encode.ts';
import { isMapValue, isSetValue } from '../codec/value.ts';
import { SchemaError } from '../errors.ts';
import type { Base, Column } from '../schema/column.ts';
import { columnModel, type DatabaseModel, type TableName } from '../schema/model.ts';
import { isUsable } from '../schema/support.ts';
import { isUuid, type Uuid } from '../uuid.ts';
import type { WireRow, WireValue } from '../wire/notation.ts';
import type { Condition, ConditionFunction, Mutator, Operation } from './operation.ts';

/** The row that an insert of the same transaction makes. */
export class NamedUuid {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

type Given<V> = V extends Uuid
  ? Uuid | NamedUuid
  : V extends readonly (infer E)[]
    ? readonly Given<E>[]
    : V extends Readonly<Record<string, infer M>>
      ? Readonly<Record<string, Given<M>>>
      : V;

/** Values for some columns of a row. */
export type RowValues<Row> = { readonly [C in Exclude<keyof Row, '_uuid'>]?: Given<Row[C]> };

type ColumnName<Row> = keyof Row & string;

/** One test of a column; `_uuid` is one, too. */
export type Test<Row> = {
  readonly [C in ColumnName<Row>]: readonly [column: C, function_: ConditionFunction, value: Given<Row[C]>];
}[ColumnName<Row>];

/** Which rows: the one with a uuid, or those that pass all tests; none given: all rows. */
export type Where<Row> = Uuid | NamedUuid | readonly Test<Row>[];

/** Collects operations. Methods throw a SchemaError for a value that does not fit its column. */
export class Transaction<DB> {
  readonly #model: DatabaseModel;
  readonly #server: DatabaseModel | undefined;
  readonly #operations: Operation[] = [];
  #inserts = 0;

  /**
   * @param server the schema of the connected server (`session.schema`): columns that it lacks are left out of what is
   * written, as a replica's `onUnsupported` reports; without it they are written, and refused
   */
  constructor(model: DatabaseModel<DB>, server?: DatabaseModel) {
    this.#model = model as unknown as DatabaseModel;
    this.#server = server;
  }

  get operations(): readonly Operation[] {
    return this.#operations;
  }

  /** The result can be used as a reference to the row in this transaction. */
  insert<T extends TableName<DB>>(table: T, values: RowValues<DB[T]>): NamedUuid {
    const named = new NamedUuid(`row${this.#inserts++}`);
    this.#operations.push({ op: 'insert', table, row: this.#row(table, values), 'uuid-name': named.name });
    return named;
  }

  update<T extends TableName<DB>>(table: T, where: Where<DB[T]>, values: RowValues<DB[T]>): this {
    return this.#push({ op: 'update', table, where: this.#where(table, where), row: this.#row(table, values) });
  }

  /**
   * Changes one column: arithmetic on numbers, `insert` and `delete` of elements or entries. What is deleted from a map
   * is given by its keys, or by its entries where the values have to agree. Inserting does not overwrite entries.
   */
  mutate<T extends TableName<DB>, C extends Exclude<ColumnName<DB[T]>, '_uuid'>>(
    table: T,
    where: Where<DB[T]>,
    column: C,
    mutator: Mutator,
    value: Given<DB[T][C]> | readonly string[] | number,
  ): this {
    const mutation = [column, mutator, this.#operand(table, column, mutator, value)] as const;
    const mutations = this.#isWritable(table, column) ? [mutation] : [];
    return this.#push({ op: 'mutate', table, where: this.#where(table, where), mutations });
  }

  delete<T extends TableName<DB>>(table: T, where: Where<DB[T]>): this {
    return this.#push({ op: 'delete', table, where: this.#where(table, where) });
  }

  /** Lets the transaction fail unless, within the time, the rows are (`==`) or are not (`!=`) exactly the given ones. */
  wait<T extends TableName<DB>>(
    table: T,
    where: Where<DB[T]>,
    until: '==' | '!=',
    rows: readonly RowValues<DB[T]>[],
    options: { readonly columns: readonly ColumnName<DB[T]>[]; readonly timeoutMs: number },
  ): this {
    const wire = rows.map((row) => this.#row(table, row));
    const { columns, timeoutMs: timeout } = options;
    return this.#push({ op: 'wait', table, where: this.#where(table, where), columns, until, rows: wire, timeout });
  }

  select<T extends TableName<DB>>(table: T, where: Where<DB[T]>, columns?: readonly ColumnName<DB[T]>[]): this {
    return this.#push({ op: 'select', table, where: this.#where(table, where), ...(columns && { columns }) });
  }

  /** Goes into the server's log. */
  comment(comment: string): this {
    return this.#push({ op: 'comment', comment });
  }

  /** Any other operation. */
  raw(operation: Operation): this {
    return this.#push(operation);
  }

  #push(operation: Operation): this {
    this.#operations.push(operation);
    return this;
  }

  #row(table: string, values: object): WireRow {
    return Object.fromEntries(
      Object.entries(values)
        .map(([name, value]) => [name, encodeValue(this.#column(table, name), value, atom)] as const)
        .filter(([name]) => this.#isWritable(table, name)),
    );
  }

  #isWritable(table: string, name: string): boolean {
    if (this.#server === undefined) return true;
    return isUsable(columnModel(this.#model, table, name), columnModel(this.#server, table, name));
  }

  #where(
    table: string,
    where: Uuid | NamedUuid | readonly (readonly [string, ConditionFunction, unknown])[],
  ): Condition[] {
    if (typeof where === 'string' || where instanceof NamedUuid) return [['_uuid', '==', atom(UUID, where)]];
    return where.map(([name, test, value]) => [name, test, encodeValue(this.#column(table, name), value, atom)]);
  }

  #operand(table: string, name: string, mutator: Mutator, value: unknown): WireValue {
    const column = this.#column(table, name);
    if (mutator !== 'insert' && mutator !== 'delete') return atom(column.key, value);
    if (column.kind === 'map')
      return isMapValue(value) ? encodeMap(column, value, atom) : encodeSet(column.key, value, atom);
    return encodeSet(column.key, isSetValue(value) ? value : [value], atom);
  }

  #column(table: string, name: string): Column {
    if (name === '_uuid') return UUID_COLUMN;
    const column = columnModel(this.#model, table, name);
    if (column === undefined) throw new SchemaError(`${table} has no column ${name}`);
    return column;
  }
}

const UUID: Base = { type: 'uuid' };
const UUID_COLUMN: Column = { kind: 'scalar', key: UUID, min: 1, max: 1 };

const atom: AtomEncoder = (base, value) => {
  if (value instanceof NamedUuid) return ['named-uuid', value.name];
  return base.type === 'uuid' && isUuid(value) ? ['uuid', value] : encodeAtom(base, value);
};
