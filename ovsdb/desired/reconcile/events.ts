import type { OvsdbError } from '../../errors.ts';
import type { Unit } from '../unit.ts';

/** For logs and metrics. */
export type ReconcilerEvent =
  | { readonly kind: 'committed'; readonly operations: number; readonly owners: number; readonly durationMs: number }
  /** A transaction failed; who is to blame is tried again later, all others at once. */
  | { readonly kind: 'failed'; readonly error: OvsdbError; readonly blamed: readonly string[] }
  /** Somebody changed or removed what is ours, and it is being put right. */
  | { readonly kind: 'drift'; readonly unit: Unit; readonly owners: readonly string[] }
  /** A row that is not to be touched is in the way. */
  | { readonly kind: 'conflict'; readonly unit: Unit; readonly owners: readonly string[]; readonly message: string };

/** Since the start. */
export interface ReconcilerCounts {
  transactions: number;
  operations: number;
  failures: number;
  driftRepairs: number;
  conflicts: number;
}
