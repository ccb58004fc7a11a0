/** Fills a database that is empty before anything is compared. What it leaves undone is found by the comparison. */
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/error-message.ts';
import { OutcomeUnknownError, OvsdbError } from '../../errors.ts';
import type { RowChange } from '../../replica/row.ts';
import type { DesiredRows } from '../desired-rows.ts';
import { type ActualRows, isMarked } from '../plan/actual-rows.ts';
import { allSeen } from '../reconcile/all-seen.ts';
import type { ReconcilerCounts, ReconcilerEvent } from '../reconcile/events.ts';
import type { ReconcilerSession } from '../reconcile/needs.ts';
import { type BulkSession, bulkLoad, type LoadReply } from './bulk-load.ts';
import { emptyTables } from './emptiness.ts';
import { type LoadedRow, loadTransactions } from './load-transactions.ts';
import { LoadedRows } from './loaded-rows.ts';
import { Slices } from './slices.ts';

export interface FirstLoadOptions {
  readonly desired: DesiredRows;
  readonly actual: ActualRows;
  readonly session: ReconcilerSession;
  readonly counts: ReconcilerCounts;
  readonly maxOperations: number;
  /** Fewer rows are written as always. */
  readonly minRows: number;
  readonly clock: Clock;
  readonly onEvent: (event: ReconcilerEvent) => void;
}

export interface LoadRun {
  /** Asked before each transaction: false ends it. */
  readonly mayGoOn: () => boolean;
  /** Called with every reply. */
  readonly onProgress: () => void;
  /** Rows that may be there although nobody said so. */
  readonly onUnknown: (rows: readonly LoadedRow[], error: OvsdbError) => void;
}

/** Of what has been sent and not answered. ovsdb-server takes a fraction of a second for it. */
const MAX_BYTES_UNDER_WAY = 4 * 1024 * 1024;

/** About a millisecond's worth: ovsdb-server takes no request while it has something to tell that is not read. */
const COMPARED_AT_ONCE = 64;

export class FirstLoad {
  readonly #options: FirstLoadOptions;
  /** Of a load, until all is compared. */
  #loaded: LoadedRows | undefined;

  constructor(options: FirstLoadOptions) {
    this.#options = options;
  }

  /** Whether there is enough to load, and nothing that it would have to be compared with. */
  isPossible(): boolean {
    return isBulkSession(this.#options.session) && this.#emptyTables() !== undefined;
  }

  /** Resolves when all that was sent is answered, and in the replica. Never rejects. */
  async run({ mayGoOn, onProgress, onUnknown }: LoadRun): Promise<void> {
    const { desired, actual, session, clock, maxOperations } = this.#options;
    const tables = this.#emptyTables();
    if (tables === undefined || !isBulkSession(session)) return;
    const inserted: LoadedRow[] = [];
    const loaded = new LoadedRows(desired, actual);
    this.#loaded = loaded;
    const comparison = new Slices<LoadedRow>(COMPARED_AT_ONCE, (rows) => loaded.compare(rows));
    const onReply = (reply: LoadReply): void => {
      onProgress();
      this.#report(reply);
      if (reply.error === undefined) {
        for (const row of reply.rows) inserted.push(row);
        comparison.add(reply.rows);
      } else if (reply.error instanceof OutcomeUnknownError) onUnknown(reply.rows, reply.error);
    };
    const all = loadTransactions({ desired, actual, tables, maxOperations });
    const transactions = all.map((transaction) => {
      if (transaction !== undefined) loaded.send(transaction.rows);
      return transaction;
    });
    try {
      await bulkLoad({ transactions, session, maxBytes: MAX_BYTES_UNDER_WAY, mayGoOn, onReply, clock });
      await comparison.whenDone();
    } catch (cause) {
      // What is compared after all is taken as settled would not be heard of when it changes.
      comparison.stop();
      const error = new OvsdbError('ERR_OVSDB_PLAN', `planning a bulk load failed: ${messageOf(cause)}`, { cause });
      this.#options.onEvent({ kind: 'failed', error, blamed: [] });
    }
    for (const { table, key, uuid } of inserted) {
      if (!isMarked(actual.model, table)) actual.adoptions.add(table, key, uuid);
    }
    if (mayGoOn()) await allSeen(actual.store, inserted, clock);
  }

  /** The replica has changed before all is compared. */
  changed(changes: readonly RowChange[]): void {
    this.#loaded?.changed(changes);
  }

  /** What is wanted has changed before all is compared, or what can be. */
  disturb(): void {
    this.#loaded?.disturb();
  }

  /** Whether a desired row is known to be as it is wanted. To be asked for once, when all is compared. */
  takeSettled(): (key: string) => boolean {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    return (key) => loaded?.has(key) === true;
  }

  #emptyTables(): ReadonlySet<string> | undefined {
    const { desired, actual, minRows } = this.#options;
    return emptyTables(desired, actual.store, minRows);
  }

  #report({ operations, owners, durationMs, error }: LoadReply): void {
    const { counts, onEvent } = this.#options;
    if (error !== undefined) {
      counts.failures++;
      onEvent({ kind: 'failed', error, blamed: [] });
      return;
    }
    counts.transactions++;
    counts.operations += operations;
    onEvent({ kind: 'committed', operations, owners, durationMs });
  }
}

const isBulkSession = (session: ReconcilerSession): session is ReconcilerSession & BulkSession =>
  session.transactText !== undefined;
