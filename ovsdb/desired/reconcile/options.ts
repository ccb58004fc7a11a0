import type { BackoffOptions } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import type { DesiredRows } from '../desired-rows.ts';
import type { ClaimedRows } from '../garbage.ts';
import type { GroupOf } from './batch.ts';
import type { ReconcilerEvent } from './events.ts';
import type { ReconcilerReplica, ReconcilerSession } from './needs.ts';

export interface ReconcilerOptions<DB> {
  readonly desired: DesiredRows<DB>;
  readonly replica: ReconcilerReplica;
  readonly session: ReconcilerSession;
  /** The key in `external_ids` that marks rows of ours, for example `ovn-udn/key`. */
  readonly ownerKey: string;
  /** Which rows of tables without `external_ids` are ours, for pruning. */
  readonly claimed?: ClaimedRows;
  /** Of one transaction; what one owner wants is never split. Default 1,000. */
  readonly maxOperations?: number;
  /**
   * Owners of which one without the others would be wrong for the moment between two transactions: those of one group are written by one,
   * however large, unless the server refuses it. What nobody wants any more after a restart is in no group. Default: none is.
   */
  readonly groupOf?: GroupOf;
  /**
   * A unit that has to be written more often than that, and stays for less than three seconds each time, is somebody
   * else's, too: it is left alone for a while, longer each time, and its owners are in error meanwhile. Default 5.
   */
  readonly maxRepairs?: number;
  /**
   * As many rows are written in bulk when the database is empty: their transactions do not wait for each other, see
   * README.md. Default 500; Infinity: never.
   */
  readonly bulkFrom?: number;
  /** For an owner whose transaction failed. Default: from one second to one minute. */
  readonly retry?: BackoffOptions;
  readonly onEvent?: (event: ReconcilerEvent) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Calls back once, soon: whatever else happens until then goes into the same transaction. */
  readonly schedule?: (run: () => void) => void;
}
