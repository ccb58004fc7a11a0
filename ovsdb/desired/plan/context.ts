import type { DesiredRows } from '../desired-rows.ts';
import type { Unit } from '../unit.ts';
import type { ActualRows } from './actual-rows.ts';
import type { Feasibility } from './feasible.ts';
import type { Lookup } from './lookup.ts';
import type { PendingOperations } from './pending.ts';

/** What the parts of one plan share. */
export interface PlanContext {
  readonly desired: DesiredRows;
  readonly actual: ActualRows;
  readonly lookup: Lookup;
  readonly feasible: Feasibility;
  readonly pending: PendingOperations;
  readonly guarded: ReadonlySet<string>;
  readonly ownersOf: (unit: Unit) => readonly string[];
  readonly isBlocked: (owner: string) => boolean;
}
