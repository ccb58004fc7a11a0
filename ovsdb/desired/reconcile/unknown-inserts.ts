/**
 * Inserts that were sent and never answered: their rows may be there. The next try to insert one is guarded, and a row that
 * cannot carry our mark is known again by what was written into it, even if it is wanted otherwise, or not at all, by then.
 */
import { tableModel } from '../../schema/model.ts';
import type { WireRow } from '../../wire/notation.ts';
import type { LoadedRow } from '../bulk/load-transactions.ts';
import { type ActualRows, isMarked } from '../plan/actual-rows.ts';
import type { FoundRow, Plan } from '../plan/plan.ts';
import type { Unit } from '../unit.ts';

export class UnknownInserts {
  readonly #actual: ActualRows;
  /** By key. */
  readonly #rows = new Map<string, { readonly table: string; readonly row: WireRow }>();

  constructor(actual: ActualRows) {
    this.#actual = actual;
  }

  /** The keys of their rows. */
  get keys(): ReadonlySet<string> {
    return new Set(this.#rows.keys());
  }

  /** The transaction of this plan may have been committed. */
  add({ inserts, operations }: Plan): void {
    for (const { index, table, key } of inserts) {
      const operation = operations[index];
      if (operation?.op === 'insert') this.#rows.set(key, { table, row: operation.row });
    }
  }

  /** As `add`, for a bulk load. */
  addLoaded(rows: readonly LoadedRow[]): void {
    for (const { table, key, recognisedBy = {} } of rows) this.#rows.set(key, { table, row: recognisedBy });
  }

  /** What became of inserts is known where their rows are there. */
  forgetSeen(): void {
    for (const [key, { table }] of this.#rows) if (this.#actual.owned(table, key).length > 0) this.#rows.delete(key);
  }

  /** What became of the insert is known. */
  forget(key: string): void {
    this.#rows.delete(key);
  }

  /** The row of a unit where marks do not tell, if it is there and not known to be ours yet. */
  found(unit: Unit): FoundRow | undefined {
    const { adoptions, model } = this.#actual;
    const insert = unit.kind === 'row' ? this.#rows.get(unit.key) : undefined;
    if (unit.kind !== 'row' || insert?.table !== unit.table || isMarked(model, unit.table)) return undefined;
    if (adoptions.uuidOf(unit.table, unit.key) !== undefined) return undefined;
    for (const columns of tableModel(model, unit.table)?.indexes ?? []) {
      const values = columns.map((column) => insert.row[column]);
      if (values.some((value) => value === undefined || typeof value === 'object')) continue;
      const row = this.#actual.findUnique(unit.table, columns, (column) => insert.row[column]);
      if (row !== undefined && adoptions.keyOf(row._uuid) === undefined) {
        return { table: unit.table, key: unit.key, uuid: row._uuid };
      }
    }
    return undefined;
  }
}
