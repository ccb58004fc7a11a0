import type { DesiredRows } from '../desired-rows.ts';
import type { Unit } from '../unit.ts';
import type { ActualRows } from './actual-rows.ts';

export interface PlanInput {
  readonly desired: DesiredRows;
  readonly actual: ActualRows;
  /** What may differ from what is wanted. More is done only where these need it. */
  readonly units: Iterable<Unit>;
  /** Who wants a unit, where that is not in `desired` any more. */
  readonly ownersOf?: (unit: Unit) => readonly string[];
  /** Rows of these owners are left alone, as if they were not wanted yet. */
  readonly isBlocked?: (owner: string) => boolean;
  /** Keys of rows of which an insert may have been done that the replica has not seen: insert only if that is not so. */
  readonly guarded?: ReadonlySet<string>;
}
