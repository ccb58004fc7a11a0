/** What is in the database, seen with the question which of it is ours. */
import { isMapValue } from '../../codec/value.ts';
import { SchemaError } from '../../errors.ts';
import type { AnyRow } from '../../replica/row.ts';
import { indexKey } from '../../replica/row-index.ts';
import { type RowStore, uniqueIndexName } from '../../replica/row-store.ts';
import { columnModel, type DatabaseModel, tableModel } from '../../schema/model.ts';
import type { Uuid } from '../../uuid.ts';

/** The index that the replica needs for every table with `external_ids` in which rows of ours can be. */
export const OWNER_INDEX = 'ovsdb:owner';

/** The key that a row of ours carries. */
export const markOf = (row: AnyRow, ownerKey: string): string | undefined => {
  const ids = row['external_ids'];
  const key = isMapValue(ids) ? ids[ownerKey] : undefined;
  return typeof key === 'string' ? key : undefined;
};

/** Tables without `external_ids` cannot carry our mark: their rows are told by a unique index of the schema. */
export const isMarked = (model: DatabaseModel, table: string): boolean =>
  columnModel(model, table, 'external_ids')?.kind === 'map';

/** True when marks can be seen: rows of tables that are replicated without `external_ids` are never ours. */
export const canHaveMark = (store: RowStore, table: string): boolean =>
  isMarked(store.model, table) && store.hasColumn(table, 'external_ids');

/**
 * Rows of unmarked tables that are known to be ours: those that were written, or found where they were wanted, since
 * the start.
 */
export class Adoptions {
  readonly #uuids = new Map<string, Uuid>();
  readonly #keys = new Map<Uuid, string>();

  uuidOf(table: string, key: string): Uuid | undefined {
    return this.#uuids.get(`${table}\n${key}`);
  }

  keyOf(uuid: Uuid): string | undefined {
    return this.#keys.get(uuid);
  }

  /** From now on the row goes by this key alone. */
  add(table: string, key: string, uuid: Uuid): void {
    this.remove(table, uuid);
    const old = this.uuidOf(table, key);
    if (old !== undefined) this.#keys.delete(old);
    this.#uuids.set(`${table}\n${key}`, uuid);
    this.#keys.set(uuid, key);
  }

  remove(table: string, uuid: Uuid): void {
    const key = this.#keys.get(uuid);
    this.#keys.delete(uuid);
    if (key !== undefined && this.uuidOf(table, key) === uuid) this.#uuids.delete(`${table}\n${key}`);
  }
}

export interface ActualRowsOptions {
  readonly store: RowStore;
  /** The key in `external_ids` that marks rows of ours. */
  readonly ownerKey: string;
  readonly adoptions?: Adoptions;
}

/** The rows of a store by the keys of ours. */
export class ActualRows {
  readonly store: RowStore;
  readonly ownerKey: string;
  readonly adoptions: Adoptions;
  /** Table → how rows of ours are known in it. Asked for with every row; neither the model nor the replicated columns change. */
  readonly #recognitions = new Map<string, Recognition>();

  /** @throws SchemaError when the store was not made for this, see `managedReplica` */
  constructor({ store, ownerKey, adoptions = new Adoptions() }: ActualRowsOptions) {
    const unindexed = store.tableNames.find(
      (table) => canHaveMark(store, table) && !store.hasIndex(table, OWNER_INDEX),
    );
    if (unindexed !== undefined) throw new SchemaError(`the replica of ${unindexed} has no index of owners`);
    if (!store.tracksParents) throw new SchemaError('the replica does not track parents');
    this.store = store;
    this.ownerKey = ownerKey;
    this.adoptions = adoptions;
  }

  get model(): DatabaseModel {
    return this.store.model;
  }

  /** The rows of ours with this key; more than one only when something went wrong. In the order of their uuids. */
  owned(table: string, key: string): readonly AnyRow[] {
    switch (this.#recognition(table)) {
      case 'mark':
        return this.store.find(table, OWNER_INDEX, key);
      case 'adoption': {
        const uuid = this.adoptions.uuidOf(table, key);
        const row = uuid === undefined ? undefined : this.store.get(table, uuid);
        return row === undefined ? [] : [row];
      }
      case 'none':
        return [];
    }
  }

  /** The key of a row, when it is ours. */
  keyOf(table: string, row: AnyRow): string | undefined {
    return isMarked(this.model, table) ? markOf(row, this.ownerKey) : this.adoptions.keyOf(row._uuid);
  }

  /** The key of the row that an element of a reference column stands for, when it is ours. */
  keyOfReferred(table: string, column: string, uuid: Uuid): string | undefined {
    const target = columnModel(this.model, table, column)?.key.refTable;
    if (target === undefined || !this.store.hasTable(target)) return undefined;
    const row = this.store.get(target, uuid);
    return row === undefined ? undefined : this.keyOf(target, row);
  }

  /** The row whose columns have these values; undefined unless the columns are a unique index. */
  at(table: string, values: Readonly<Record<string, string | number>>): AnyRow | undefined {
    const index = tableModel(this.model, table)?.indexes.find(
      (columns) => columns.length === Object.keys(values).length && columns.every((column) => column in values),
    );
    if (index === undefined) return undefined;
    return this.findUnique(table, index, (column) => values[column]);
  }

  #recognition(table: string): Recognition {
    const known = this.#recognitions.get(table);
    if (known !== undefined) return known;
    const recognition = recognitionOf(this.store, table);
    this.#recognitions.set(table, recognition);
    return recognition;
  }

  findUnique(table: string, index: readonly string[], at: (column: string) => unknown): AnyRow | undefined {
    const name = uniqueIndexName(index);
    if (!this.store.hasIndex(table, name)) return undefined;
    const columns = tableModel(this.model, table)?.columns ?? {};
    const key = indexKey(
      index.map((column) => {
        const value = at(column);
        // A target's id has texts only.
        return isNumeric(columns[column]?.key.type) && value !== undefined ? Number(value) : (value as string);
      }),
    );
    return this.store.find(table, name, key)[0];
  }
}

type Recognition = 'mark' | 'adoption' | 'none';

const recognitionOf = (store: RowStore, table: string): Recognition => {
  if (!store.hasTable(table)) return 'none';
  if (!isMarked(store.model, table)) return 'adoption';
  return canHaveMark(store, table) ? 'mark' : 'none';
};

const isNumeric = (type: string | undefined): boolean => type === 'integer' || type === 'real';
