/** The tables of a replica, their indexes, and who waits for rows; without types and without I/O. */
import { ElementIndex } from '../codec/element-index.ts';
import type { Scalar, SetValue } from '../codec/value.ts';
import { SchemaError } from '../errors.ts';
import { columnModel, type DatabaseModel, tableModel } from '../schema/model.ts';
import { type Support, supportOf } from '../schema/support.ts';
import type { Uuid } from '../uuid.ts';
import { elementsOf } from './element-change.ts';
import { ParentIndex, parentColumns } from './parents.ts';
import type { AnyRow, RowChange } from './row.ts';
import { indexKey, type KeyFunction, RowIndex } from './row-index.ts';
import { Table } from './table.ts';
import { applyUpdates, replaceRows, type UpdateFormat } from './updates.ts';
import { Waiters } from './waiters.ts';

export interface RowStoreOptions {
  readonly model: DatabaseModel;
  /** Table → columns. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  readonly indexes: ReadonlyMap<string, ReadonlyMap<string, KeyFunction>>;
  readonly trackParents: boolean;
}

/** What a replica has, where the tables are not known to the compiler. Methods throw a SchemaError for tables that it has not. */
export class RowStore {
  readonly model: DatabaseModel;
  readonly waiters = new Waiters();
  readonly #tables = new Map<string, Table>();
  readonly #elements = new ElementIndex();
  readonly #parents: ParentIndex | undefined;
  #support: Support | undefined;
  #supportGeneration = 0;
  /** Changes by a message that turned out to be malformed half way: the next message that is read reports them, too. */
  #unreported: RowChange[] = [];

  /** @throws SchemaError when the model has not a table or column that is asked for */
  constructor({ model, tables, indexes, trackParents }: RowStoreOptions) {
    this.model = model;
    for (const [name, columns] of tables) {
      checkColumns(model, name, columns);
      const declared = indexes.get(name) ?? new Map();
      this.#tables.set(
        name,
        new Table({
          name,
          columns,
          indexes: indexesOf(model, name, columns, declared),
          model,
          elements: this.#elements,
        }),
      );
    }
    if (trackParents) this.#parents = new ParentIndex(mirroredParents(model, tables));
  }

  get tableNames(): readonly string[] {
    return [...this.#tables.keys()];
  }

  get tracksParents(): boolean {
    return this.#parents !== undefined;
  }

  /** What the server that was connected last has; undefined before the first connection. */
  get support(): Support | undefined {
    return this.#support;
  }

  /** Counts how often a server had other tables and columns than the one before. */
  get supportGeneration(): number {
    return this.#supportGeneration;
  }

  /** Adjusts to a server's schema; true when that is another set of columns than before. */
  configure(server: DatabaseModel): boolean {
    const requested = new Map([...this.#tables].map(([name, { columns }]) => [name, columns]));
    const support = supportOf(this.model, server, requested);
    const changed = this.#support === undefined || describe(support) !== describe(this.#support);
    this.#support = support;
    if (changed) this.#supportGeneration++;
    for (const [name, table] of this.#tables) table.configure(server, support.tables.get(name) ?? new Set());
    return changed;
  }

  apply(format: UpdateFormat, updates: unknown): RowChange[] {
    return this.#changed((changes) => applyUpdates(this.#tables, format, updates, changes));
  }

  replace(format: UpdateFormat, updates: unknown): RowChange[] {
    return this.#changed((changes) => replaceRows(this.#tables, format, updates, changes));
  }

  /** Notifies those who wait, when everything of an update is in place. */
  notifyWaiters(changes: readonly RowChange[]): void {
    for (const change of changes) this.waiters.notify(change, this.#table(change.table).indexes);
  }

  hasTable(table: string): boolean {
    return this.#tables.has(table);
  }

  /** True when the column is asked for; whether the server has it is another question. */
  hasColumn(table: string, column: string): boolean {
    return this.#tables.get(table)?.columns.includes(column) ?? false;
  }

  /** True when the column is asked for and, as far as is known, the server has it. */
  supports(table: string, column?: string): boolean {
    if (this.#support === undefined) return column === undefined ? this.hasTable(table) : this.hasColumn(table, column);
    const columns = this.#support.tables.get(table);
    return columns !== undefined && (column === undefined || columns.has(column));
  }

  size(table: string): number {
    return this.#table(table).rows.size;
  }

  rows(table: string): IterableIterator<AnyRow> {
    return this.#table(table).rows.values();
  }

  get(table: string, uuid: Uuid): AnyRow | undefined {
    return this.#table(table).rows.get(uuid);
  }

  /**
   * The rows that have `key` in an index, in the order of their uuids.
   * @throws SchemaError when there is no such index
   */
  find(table: string, index: string, key: string): readonly AnyRow[] {
    const { rows } = this.#table(table);
    const found = this.#index(table, index).find(key);
    const [only] = found;
    if (found.length !== 1 || only === undefined) return found.flatMap((uuid) => rows.get(uuid) ?? []);
    const row = rows.get(only);
    return row === undefined ? [] : [row];
  }

  hasIndex(table: string, index: string): boolean {
    return this.#tables.get(table)?.indexes.has(index) ?? false;
  }

  indexKeys(table: string, index: string): IterableIterator<string> {
    return this.#index(table, index).keys();
  }

  /** Whether a set has an element, in a time that does not depend on how many it has. */
  hasElement(table: string, uuid: Uuid, column: string, element: Scalar): boolean {
    return this.#elements.has(elementsOf(this.get(table, uuid), column), element);
  }

  /**
   * Has texts that are equal to elements of a set in their place, so that they are held once.
   * @param elements of the set; absent: all of them
   */
  shareTexts(
    table: string,
    uuid: Uuid,
    column: string,
    elements: SetValue | undefined,
    own: (text: string) => string | undefined,
  ): void {
    this.#elements.share(elementsOf(this.get(table, uuid), column), elements, own);
  }

  /** The rows with strong references to `child`; needs `trackParents`. */
  parentsOf(child: Uuid): readonly Uuid[] {
    return this.#parents?.of(child) ?? [];
  }

  #changed(work: (changes: RowChange[]) => void): RowChange[] {
    const changes = this.#unreported;
    work(changes);
    this.#unreported = [];
    if (this.#parents !== undefined) for (const change of changes) this.#parents.update(change);
    return changes;
  }

  #table(name: string): Table {
    const table = this.#tables.get(name);
    if (table === undefined) throw new SchemaError(`${this.model.name} ${name} is not replicated`);
    return table;
  }

  #index(table: string, name: string): RowIndex {
    const index = this.#table(table).indexes.get(name);
    if (index === undefined) throw new SchemaError(`${this.model.name} ${table} has no index "${name}"`);
    return index;
  }
}

/** The name of the index that the replica makes for an index of the schema. */
export const uniqueIndexName = (columns: readonly string[]): string => columns.join(',');

const indexesOf = (
  model: DatabaseModel,
  table: string,
  columns: readonly string[],
  declared: ReadonlyMap<string, KeyFunction>,
): Map<string, RowIndex> => {
  const indexes = new Map<string, RowIndex>();
  for (const unique of tableModel(model, table)?.indexes ?? []) {
    if (!unique.every((column) => columns.includes(column))) continue;
    indexes.set(uniqueIndexName(unique), new RowIndex(uniqueKey(unique)));
  }
  for (const [name, keyOf] of declared) indexes.set(name, new RowIndex(keyOf));
  return indexes;
};

const uniqueKey = (columns: readonly string[]): KeyFunction => {
  const [only] = columns;
  if (columns.length === 1 && only !== undefined) return (row) => String(row[only]);
  return (row) => indexKey(columns.map((column) => row[column] as Scalar | undefined));
};

const mirroredParents = (model: DatabaseModel, tables: ReadonlyMap<string, readonly string[]>) =>
  parentColumns(model).filter(({ table, column }) => tables.get(table)?.includes(column));

const checkColumns = (model: DatabaseModel, table: string, columns: readonly string[]): void => {
  if (tableModel(model, table) === undefined) throw new SchemaError(`${model.name} has no table ${table}`);
  for (const column of columns) {
    if (columnModel(model, table, column) === undefined) throw new SchemaError(`${table} has no column ${column}`);
  }
};

const describe = ({ tables }: Support): string =>
  JSON.stringify([...tables].map(([table, columns]) => [table, [...columns].sort()]).sort());
