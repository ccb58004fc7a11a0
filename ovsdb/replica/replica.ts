/** A current copy of chosen tables and columns of a database, with types. */
import { abortable } from '../../base/abort.ts';
import { Listeners } from '../listeners.ts';
import { type DatabaseModel, type TableName, tableModel } from '../schema/model.ts';
import type { Unsupported } from '../schema/support.ts';
import type { MonitorRequests, MonitorSink } from '../session/monitor-sink.ts';
import { type Uuid, ZERO_UUID } from '../uuid.ts';
import type { RowChange } from './row.ts';
import type { KeyFunction } from './row-index.ts';
import { RowStore } from './row-store.ts';
import type { UpdateFormat } from './updates.ts';
import type { RowAddress } from './waiters.ts';

/** Table → the columns that are desired of it, or all of them. */
export type Selection<DB> = { readonly [T in keyof DB]?: readonly (keyof DB[T] & string)[] | 'all' };

/** A row of a replica: the selected columns and `_uuid`. */
export type SelectedRow<DB, S extends Selection<DB>, T extends keyof S> = T extends keyof DB
  ? S[T] extends readonly (infer Column)[]
    ? Pick<DB[T], (Column | '_uuid') & keyof DB[T]>
    : DB[T]
  : never;

/** Table → index → the key of a row; a row without a key is not in the index. */
export type Indexes<DB, S extends Selection<DB>> = {
  readonly [T in keyof S]?: Readonly<Record<string, (row: SelectedRow<DB, S, T>) => string | undefined>>;
};

export interface ReplicaOptions<DB, S extends Selection<DB>> {
  readonly model: DatabaseModel<DB>;
  readonly tables: S;
  /**
   * Besides these there is one for every unique index of the schema whose columns are selected, named by its columns
   * joined with a comma; `indexKey` gives the key of several values.
   */
  readonly indexes?: Indexes<DB, S>;
  /** Remember which rows keep a row alive; the reconciler needs it. */
  readonly trackParents?: boolean;
}

/** Everything that one message of the server changed, after it is all in place. */
export interface ReplicaUpdate {
  /** `replaced` when the server sent its whole contents: the changes are what differs from before. */
  readonly kind: 'replaced' | 'changed';
  readonly changes: readonly RowChange[];
}

/** Rows of the selected tables with the types of `DB`, current while a session mirrors it. */
export class Replica<DB, const S extends Selection<DB>> implements MonitorSink {
  /** The same rows without their types, for code that works on any database. */
  readonly store: RowStore;
  readonly #updates = new Listeners<ReplicaUpdate>();
  readonly #synced = new Listeners<boolean>();
  readonly #unsupported = new Listeners<Unsupported>();
  readonly #reported = new Set<string>();
  #isSynced = false;
  #lastTransactionId: string = ZERO_UUID;

  /** @throws SchemaError when the model has not a table or column that is selected */
  constructor({ model, tables, indexes = {}, trackParents = false }: ReplicaOptions<DB, S>) {
    const untyped = model as unknown as DatabaseModel;
    this.store = new RowStore({
      model: untyped,
      tables: selectedColumns(untyped, tables),
      indexes: keyFunctions(indexes),
      trackParents,
    });
  }

  get database(): string {
    return this.store.model.name;
  }

  get lastTransactionId(): string {
    return this.#lastTransactionId;
  }

  /** True while the session is connected and everything that the server had is here. */
  get synced(): boolean {
    return this.#isSynced;
  }

  size(table: TableName<S>): number {
    return this.store.size(table);
  }

  rows<T extends TableName<S>>(table: T): IterableIterator<SelectedRow<DB, S, T>> {
    return this.store.rows(table) as IterableIterator<unknown> as IterableIterator<SelectedRow<DB, S, T>>;
  }

  get<T extends TableName<S>>(table: T, uuid: Uuid): SelectedRow<DB, S, T> | undefined {
    return this.store.get(table, uuid) as SelectedRow<DB, S, T> | undefined;
  }

  /** The rows that have `key` in the index, in the order of their uuids. */
  find<T extends TableName<S>>(table: T, index: string, key: string): readonly SelectedRow<DB, S, T>[] {
    return this.store.find(table, index, key) as unknown as readonly SelectedRow<DB, S, T>[];
  }

  findOne<T extends TableName<S>>(table: T, index: string, key: string): SelectedRow<DB, S, T> | undefined {
    return this.find(table, index, key)[0];
  }

  onUpdate(listener: (update: ReplicaUpdate) => void): () => void {
    return this.#updates.add(listener);
  }

  /** Called when the replica becomes current, and when it may be out of date. */
  onSynced(listener: (synced: boolean) => void): () => void {
    return this.#synced.add(listener);
  }

  /** Called once for every selected table and column that a server does not have. */
  onUnsupported(listener: (what: Unsupported) => void): () => void {
    return this.#unsupported.add(listener);
  }

  /** @throws the signal's reason, from the result */
  whenSynced(signal?: AbortSignal): Promise<void> {
    return abortable(signal, (resolve) => {
      if (this.#isSynced) resolve();
      return this.onSynced(() => resolve());
    });
  }

  /**
   * Resolves with a row of this address as soon as `test` is true for it, at once when it is already. However many wait,
   * a change of a row costs one look-up for each index of its table.
   * @throws the signal's reason, from the result
   */
  waitFor<T extends TableName<S>>(
    table: T,
    address: RowAddress,
    test: (row: SelectedRow<DB, S, T>) => boolean,
    signal?: AbortSignal,
  ): Promise<SelectedRow<DB, S, T>> {
    return this.store.waiters.wait(table, address, () => this.#at(table, address).find(test), signal);
  }

  /** Resolves when no row has this address. */
  async waitUntilGone<T extends TableName<S>>(table: T, address: RowAddress, signal?: AbortSignal): Promise<void> {
    const isGone = (): true | undefined => (this.#at(table, address).length === 0 ? true : undefined);
    await this.store.waiters.wait(table, address, isGone, signal);
  }

  #at<T extends TableName<S>>(table: T, address: RowAddress): readonly SelectedRow<DB, S, T>[] {
    if (!('uuid' in address)) return this.find(table, address.index, address.key);
    const row = this.get(table, address.uuid);
    return row === undefined ? [] : [row];
  }

  prepare(server: DatabaseModel): MonitorRequests {
    // What was not asked for before is not in what the server would send since the last transaction.
    if (this.store.configure(server)) this.#lastTransactionId = ZERO_UUID;
    this.#reportUnsupported();
    const { tables = new Map<string, ReadonlySet<string>>() } = this.store.support ?? {};
    return Object.fromEntries([...tables].map(([table, columns]) => [table, [{ columns: [...columns] }]]));
  }

  replace(format: UpdateFormat, updates: unknown, transactionId?: string): void {
    // Should the message turn out to be malformed half way, nothing may be built upon what was read of it.
    this.#lastTransactionId = ZERO_UUID;
    const changes = this.store.replace(format, updates);
    this.#finish('replaced', changes, transactionId, true);
  }

  apply(format: UpdateFormat, updates: unknown, transactionId?: string, resumed = false): void {
    this.#lastTransactionId = ZERO_UUID;
    const changes = this.store.apply(format, updates);
    this.#finish('changed', changes, transactionId, resumed);
  }

  disconnected(): void {
    this.#setSynced(false);
  }

  #finish(kind: ReplicaUpdate['kind'], changes: RowChange[], transactionId: string | undefined, syncs: boolean): void {
    this.#lastTransactionId = transactionId ?? ZERO_UUID;
    if (changes.length > 0) this.#updates.emit({ kind, changes });
    if (syncs) this.#setSynced(true);
    this.store.notifyWaiters(changes);
  }

  #setSynced(synced: boolean): void {
    if (this.#isSynced === synced) return;
    this.#isSynced = synced;
    this.#synced.emit(synced);
  }

  #reportUnsupported(): void {
    for (const what of this.store.support?.unsupported ?? []) {
      const name = `${what.table}.${what.column ?? ''}`;
      if (this.#reported.has(name)) continue;
      this.#reported.add(name);
      this.#unsupported.emit(what);
    }
  }
}

const selectedColumns = (model: DatabaseModel, selection: object): Map<string, readonly string[]> =>
  new Map(
    Object.entries(selection).map(([table, columns]: [string, readonly string[] | 'all']) => [
      table,
      columns === 'all'
        ? Object.keys(tableModel(model, table)?.columns ?? {})
        : columns.filter((column) => column !== '_uuid'),
    ]),
  );

const keyFunctions = (indexes: object): Map<string, ReadonlyMap<string, KeyFunction>> =>
  new Map(
    Object.entries(indexes).map(([table, functions]: [string, Record<string, KeyFunction>]) => [
      table,
      new Map(Object.entries(functions)),
    ]),
  );
