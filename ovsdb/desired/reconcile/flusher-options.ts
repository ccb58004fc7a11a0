import type { Backoff } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import type { DesiredRows } from '../desired-rows.ts';
import type { ActualRows } from '../plan/actual-rows.ts';
import type { GroupOf } from './batch.ts';
import type { ReconcilerCounts, ReconcilerEvent } from './events.ts';
import type { Failures } from './failures.ts';
import type { ReconcilerSession } from './needs.ts';
import type { StatusBoard } from './status.ts';
import type { WorkList } from './work-list.ts';

export interface FlusherOptions {
  readonly desired: DesiredRows;
  readonly actual: ActualRows;
  readonly works: WorkList;
  readonly failures: Failures;
  readonly board: StatusBoard;
  readonly session: ReconcilerSession;
  readonly counts: ReconcilerCounts;
  readonly maxOperations: number;
  readonly groupOf: GroupOf;
  readonly maxRepairs: number;
  /** For failures that nobody is to blame for. */
  readonly trouble: Backoff;
  readonly clock: Clock;
  readonly schedule: (run: () => void) => void;
  readonly onEvent: (event: ReconcilerEvent) => void;
  /** A row that carries no mark is known to be ours from now on. */
  readonly onAdopted: (table: string, key: string) => void;
  /** Whether the replica can be compared with. */
  readonly isCurrent: () => boolean;
  /** Whether everything that differs is on the list. */
  readonly isCompared: () => boolean;
  /** What is to be written before anything of the list; it never rejects. */
  readonly nextLoad: () => (() => Promise<void>) | undefined;
}
