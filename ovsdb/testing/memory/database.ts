/**
 * An OVSDB in memory that keeps its constraints: strong and weak references, garbage collection of rows of other than
 * root tables, unique indexes. For tests that need many small databases, or one without a process.
 */
import type { DatabaseModel } from '../../schema/model.ts';
import type { Operation } from '../../transact/operation.ts';
import { committed } from './constraints.ts';
import { type Columns, updates1, updates2 } from './difference.ts';
import { execute, Failure } from './execute.ts';
import { type Contents, emptyContents, type Row } from './rows.ts';

export type Watcher = (before: Contents, after: Contents) => void;

export class MemoryDatabase {
  readonly model: DatabaseModel;
  readonly #watchers = new Set<Watcher>();
  #contents: Contents;
  #lastUuid = 0;
  #transactions = 0;

  /** Takes the model of any database. */
  constructor(model: unknown) {
    this.model = model as DatabaseModel;
    this.#contents = emptyContents(this.model);
  }

  get contents(): Contents {
    return this.#contents;
  }

  /** How many transactions have changed something. */
  get transactions(): number {
    return this.#transactions;
  }

  /** The rows of a table with their uuids. */
  rows(table: string): (Row & { readonly _uuid: string })[] {
    return [...(this.#contents.get(table) ?? [])].map(([uuid, row]) => ({ ...row, _uuid: uuid }));
  }

  /** The result as the server would send it: RFC 7047 §4.1.3. Watchers are notified before it returns. */
  transact(operations: readonly Operation[]): unknown[] {
    const execution = {
      contents: this.#contents,
      model: this.model,
      named: this.#named(operations),
      newUuid: () => this.#newUuid(),
    };
    const results: unknown[] = [];
    try {
      for (const operation of operations) results.push(execute(execution, operation));
      this.#commit(committed(this.model, execution.contents));
      return results;
    } catch (error) {
      const failure = error instanceof Failure ? error : new Failure('constraint violation', String(error));
      results.push({ error: failure.error, details: failure.message });
      while (results.length < operations.length) results.push(null);
      return results;
    }
  }

  /** The result stops it. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
    };
  }

  /** All rows, as the reply of a monitor has them. */
  initial(format: 1 | 2, columns: Columns): object {
    const nothing = emptyContents(this.model);
    return format === 1
      ? updates1(this.model, columns, nothing, this.#contents)
      : updates2(this.model, columns, nothing, this.#contents, 'initial');
  }

  /** What the update of a monitor has. */
  changes(format: 1 | 2, columns: Columns, before: Contents, after: Contents): object {
    return format === 1
      ? updates1(this.model, columns, before, after)
      : updates2(this.model, columns, before, after, 'insert');
  }

  #commit(after: Contents): void {
    const before = this.#contents;
    if (before === after) return;
    this.#contents = after;
    this.#transactions++;
    for (const watcher of this.#watchers) watcher(before, after);
  }

  #named(operations: readonly Operation[]): Map<string, string> {
    const named = new Map<string, string>();
    for (const operation of operations) {
      const name = operation.op === 'insert' ? operation['uuid-name'] : undefined;
      if (operation.op === 'insert' && name !== undefined) named.set(name, operation.uuid ?? this.#newUuid());
    }
    return named;
  }

  #newUuid(): string {
    this.#lastUuid++;
    // Spread, so that the order of uuids is not the order of insertion.
    const spread = ((this.#lastUuid * 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
    return `${spread}-0000-4000-8000-${this.#lastUuid.toString(16).padStart(12, '0')}`;
  }
}
