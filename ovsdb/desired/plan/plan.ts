/** Compares what is wanted with what is there. Pure: the same input gives the same operations. */
import type { Operation } from '../../transact/operation.ts';
import type { Uuid } from '../../uuid.ts';
import { memberAddress } from '../store/member-sets.ts';
import { type Unit, unitId } from '../unit.ts';
import type { PlanContext } from './context.ts';
import { Feasibility } from './feasible.ts';
import type { PlanInput } from './input.ts';
import { Lookup } from './lookup.ts';
import { MemberPlanner } from './member-planner.ts';
import { SATISFIED, type UnitOutcome } from './outcome.ts';
import { planPatches } from './patch-planner.ts';
import { PendingOperations } from './pending.ts';
import { RowPlanner } from './row-planner.ts';
import { isSettled } from './settled.ts';

export interface Plan {
  /** One transaction; empty when nothing differs. */
  readonly operations: readonly Operation[];
  /** For each operation, the owners of what it does. */
  readonly owners: readonly (readonly string[])[];
  /** For each unit of the input, by `unitId`. */
  readonly outcomes: ReadonlyMap<string, UnitOutcome>;
  readonly inserts: readonly { readonly index: number; readonly table: string; readonly key: string }[];
  /** Rows of tables without `external_ids` that are taken for ours from now on. */
  readonly found: readonly FoundRow[];
}

/** Where a row of ours is that carries no mark. */
export interface FoundRow {
  readonly table: string;
  readonly key: string;
  readonly uuid: Uuid;
}

/** The one transaction that brings the units of `input` nearest to what is wanted. Changes nothing, not even `input`. */
export const plan = (input: PlanInput): Plan => {
  const lookup = new Lookup(input.desired, input.actual);
  const outcomes = new Map<string, UnitOutcome>();
  const units: Unit[] = [];
  for (const unit of input.units) {
    if (isSettled(lookup, unit)) outcomes.set(unitId(unit), SATISFIED);
    else units.push(unit);
  }
  const context = contextOf(input, lookup, units);
  const rows = new RowPlanner(context);
  const members = new MemberPlanner(context, rows);
  // What goes is known first, so that nothing refers to it.
  rows.makeRoom();
  const wanted = new Set(units.filter((unit) => isWanted(input, unit)));
  for (const unit of [...units.filter((one) => !wanted.has(one)), ...wanted]) {
    outcomes.set(unitId(unit), planUnit(context, rows, members, unit));
  }
  planReferrers(context, rows, members);
  const { operations, owners, inserts } = context.pending.build(context.lookup.gone);
  const found = rows.found.map(({ table, key, row }) => ({ table, key, uuid: row._uuid }));
  return { operations, owners, outcomes, inserts, found };
};

const isWanted = ({ desired }: PlanInput, unit: Unit): boolean =>
  unit.kind !== 'row' || desired.row(unit.key)?.table === unit.table;

const contextOf = (input: PlanInput, lookup: Lookup, units: readonly Unit[]): PlanContext => {
  const { desired, actual, guarded = new Set(), isBlocked = () => false } = input;
  return {
    desired,
    actual,
    lookup,
    feasible: new Feasibility(lookup, { units, isBlocked }),
    pending: new PendingOperations(),
    guarded,
    isBlocked,
    ownersOf: (unit) => {
      const owners = desired.ownersOf(unit);
      return owners.length > 0 ? owners : (input.ownersOf?.(unit) ?? []);
    },
  };
};

const planUnit = (context: PlanContext, rows: RowPlanner, members: MemberPlanner, unit: Unit): UnitOutcome => {
  switch (unit.kind) {
    case 'row':
      return rows.plan(unit);
    case 'member':
      return members.plan(unit);
    case 'patch':
      return planPatches(context, rows, unit);
  }
};

/**
 * A row that is inserted is put everywhere it belongs by the same transaction: without a strong reference it would be
 * gone again at once, and no other client shall see it half done.
 */
const planReferrers = (
  { desired, feasible, isBlocked }: PlanContext,
  rows: RowPlanner,
  members: MemberPlanner,
): void => {
  // The set grows while it is walked through.
  for (const key of rows.insertedKeys) {
    for (const referrer of desired.referrers(key)) {
      if (!('columns' in referrer)) {
        const unit = { kind: 'member', ...memberAddress(referrer) } as const;
        if (!desired.ownersOf(unit).every(isBlocked)) members.plan(unit);
      } else if (desired.row(referrer.key) === referrer && feasible.has(referrer.key)) {
        rows.plan({ kind: 'row', table: referrer.table, key: referrer.key });
      }
    }
  }
};
