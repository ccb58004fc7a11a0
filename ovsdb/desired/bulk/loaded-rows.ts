/**
 * Which rows of a bulk load are as they are wanted. That is found out with each reply, while the server works on what was sent after it, so that
 * the comparison that follows has little left to look at. What a row was found to be it stays for as long as nothing is desired otherwise and the
 * database changes by the load alone, which adds what is wanted and nothing else: after any other change nothing is known.
 */
import type { RowChange } from '../../replica/row.ts';
import type { Uuid } from '../../uuid.ts';
import type { DesiredRows } from '../desired-rows.ts';
import { hasStrays } from '../garbage.ts';
import type { ActualRows } from '../plan/actual-rows.ts';
import { Lookup } from '../plan/lookup.ts';
import { isSettledWhole } from '../plan/settled.ts';
import type { LoadedRow } from './load-transactions.ts';

export class LoadedRows {
  readonly #desired: DesiredRows;
  readonly #actual: ActualRows;
  readonly #sent = new Set<Uuid>();
  readonly #settled = new Set<string>();
  #isDisturbed = false;

  constructor(desired: DesiredRows, actual: ActualRows) {
    this.#desired = desired;
    this.#actual = actual;
  }

  has(key: string): boolean {
    return this.#settled.has(key);
  }

  /** They may come into the replica from now on. */
  send(rows: readonly LoadedRow[]): void {
    for (const { uuid } of rows) this.#sent.add(uuid);
  }

  /** They are in the database, and in the replica unless a relay tells of them later. */
  compare(rows: readonly LoadedRow[]): void {
    if (this.#isDisturbed) return;
    // Of its own: one that is older may say of a row that it is not there.
    const lookup = new Lookup(this.#desired, this.#actual);
    for (const { table, key } of rows) if (this.#isSettled(lookup, table, key)) this.#settled.add(key);
  }

  /** A row that has changed is compared again. */
  changed(changes: readonly RowChange[]): void {
    for (const { table, uuid, before, after } of changes) {
      if (!this.#sent.has(uuid) || after === undefined) this.disturb();
      if (before === undefined || after === undefined) continue;
      const key = this.#actual.keyOf(table, before);
      if (key === undefined || key !== this.#actual.keyOf(table, after)) this.disturb();
      else this.#settled.delete(key);
    }
  }

  /** Something is wanted otherwise, or there that the load has not written. */
  disturb(): void {
    this.#isDisturbed = true;
    this.#settled.clear();
  }

  #isSettled(lookup: Lookup, table: string, key: string): boolean {
    const wanted = this.#desired.row(key);
    if (wanted?.table !== table || !isSettledWhole(lookup, wanted)) return false;
    const [row] = this.#actual.owned(table, key);
    return row !== undefined && !hasStrays(this.#desired, this.#actual, wanted, row);
  }
}
