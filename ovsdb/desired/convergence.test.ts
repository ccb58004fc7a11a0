import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type OvnNorthbound, ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import type { RowStore } from '../replica/row-store.ts';
import { MemoryDatabase } from '../testing/memory/database.ts';
import { mirrorOf } from '../testing/memory/mirror.ts';
import {
  type Disturbance,
  disturb,
  disturbances,
  FOREIGN_ROWS,
  type Fragments,
  fragments,
  OWNER_KEY,
  type SeenRow,
} from './convergence.suite.ts';
import { DesiredRows } from './desired-rows.ts';
import { driftUnits } from './drift.ts';
import { CLAIMED, expectFulfilled, expectUntouched, foreignRows } from './fulfilment.suite.ts';
import { garbageUnits } from './garbage.ts';
import { ActualRows, Adoptions } from './plan/actual-rows.ts';
import { isProblem } from './plan/outcome.ts';
import { type Plan, plan } from './plan/plan.ts';
import { type Unit, unitId } from './unit.ts';

/** A database, the desired state of it, and what may be out of order. */
class World {
  readonly database = new MemoryDatabase(ovnNorthbound);
  readonly desired = new DesiredRows<OvnNorthbound>();
  readonly store: RowStore;
  readonly actual: ActualRows;
  readonly #adoptions = new Adoptions();
  readonly #dirty = new Map<string, Unit>();

  constructor() {
    expect(this.database.transact(FOREIGN_ROWS)).not.toContainEqual(
      expect.objectContaining({ error: expect.anything() }),
    );
    this.store = mirrorOf(this.database, OWNER_KEY, (changes) => {
      for (const change of changes) {
        for (const unit of driftUnits({ desired: this.untyped, actual: this.actual, mayPrune: true }, change))
          this.mark(unit);
      }
      for (const { table, uuid, after } of changes) if (after === undefined) this.#adoptions.remove(table, uuid);
    });
    this.actual = new ActualRows({ store: this.store, ownerKey: OWNER_KEY, adoptions: this.#adoptions });
    this.desired.onChange(({ unit }) => this.mark(unit));
  }

  get untyped(): DesiredRows {
    return this.desired as unknown as DesiredRows;
  }

  mark(unit: Unit): void {
    this.#dirty.set(unitId(unit), unit);
  }

  want(wishes: Fragments): void {
    for (const owner of [...this.desired.owners()]) if (!wishes.has(owner)) this.desired.delete(owner);
    for (const [owner, fragment] of wishes) this.desired.set(owner, fragment);
  }

  /** The whole desired state, and everything of ours that is not. */
  planAll(): Plan {
    return this.plan([...this.untyped.units(), ...garbageUnits(this.untyped, this.actual, CLAIMED)]);
  }

  plan(units: Iterable<Unit>): Plan {
    return plan({ desired: this.untyped, actual: this.actual, units });
  }

  /** Plans and applies what is dirty until nothing is left to do; what is held is tried again with everything else. */
  converge(): Plan {
    return this.#repeat(() => this.plan([...this.#dirty.values()]));
  }

  /** Knows nothing of what has happened: compares everything, as after a start. */
  compareAll(): Plan {
    this.#dirty.clear();
    return this.#repeat(() => this.planAll());
  }

  #repeat(planNext: () => Plan): Plan {
    for (let round = 0; round < 12; round++) {
      const next = planNext();
      for (const [id, { kind }] of next.outcomes) if (kind === 'satisfied') this.#dirty.delete(id);
      for (const { table, key, uuid } of next.found) this.#adoptions.add(table, key, uuid);
      if (next.operations.length === 0) return next;
      const results = this.database.transact(next.operations);
      expect(results.filter(isError), JSON.stringify(next.operations)).toEqual([]);
      for (const { index, table, key } of next.inserts) this.#adoptions.add(table, key, insertedUuid(results[index]));
    }
    throw new Error('it does not converge');
  }

  rows(): SeenRow[] {
    return Object.keys(ovnNorthbound.tables).flatMap((table) =>
      this.database.rows(table).map(({ _uuid: uuid, ...columns }) => ({ table, uuid, columns })),
    );
  }

  disturb(all: readonly Disturbance[]): void {
    for (const disturbance of all) this.database.transact(disturb(disturbance, this.rows()));
  }
}

const isError = (result: unknown): boolean => typeof result === 'object' && result !== null && 'error' in result;
const insertedUuid = (result: unknown) => (result as { uuid: [string, string] }).uuid[1] as never;
const markOf = ({ columns }: SeenRow): unknown =>
  (columns['external_ids'] as Record<string, string> | undefined)?.[OWNER_KEY];
const isOurs = (row: SeenRow): boolean => markOf(row) !== undefined;

describe('plan', () => {
  it('reaches the desired state from anything, leaves foreign rows alone, and then has nothing to do', () => {
    fc.assert(
      fc.property(fragments, fragments, disturbances, (before, desiredFragments, harm) => {
        const world = new World();
        world.want(before);
        world.compareAll();
        world.disturb(harm);
        const foreign = foreignRows(world.rows());
        world.want(desiredFragments);
        world.compareAll();
        const final = world.planAll();
        expect(final.operations).toEqual([]);
        expectFulfilled(world.untyped, world.rows(), final.outcomes);
        expectUntouched(foreign, world.rows());
      }),
      { numRuns: 150 },
    );
  });

  it('repairs every disturbance of what is ours by what changed alone', () => {
    fc.assert(
      fc.property(fragments, fc.array(disturbances, { maxLength: 3 }), (desiredFragments, harms) => {
        const world = new World();
        world.want(desiredFragments);
        world.converge();
        for (const harm of harms) {
          world.disturb(harm);
          const foreign = foreignRows(world.rows());
          world.converge();
          // What was held by the first plan is not in the second; the drift must have been enough for the rest.
          const rest = world.planAll();
          expect(rest.operations, JSON.stringify(harm)).toEqual([]);
          expectFulfilled(world.untyped, world.rows(), rest.outcomes);
          expectUntouched(foreign, world.rows());
        }
      }),
      { numRuns: 150 },
    );
  });

  it('follows wishes by what changed alone', () => {
    fc.assert(
      fc.property(fc.array(fragments, { maxLength: 4 }), (wishes) => {
        const world = new World();
        for (const wish of wishes) {
          world.want(wish);
          world.converge();
          const rest = world.planAll();
          expect(rest.operations).toEqual([]);
          expectFulfilled(world.untyped, world.rows(), rest.outcomes);
        }
        world.want(new Map());
        world.converge();
        expect(world.rows().filter(isOurs)).toEqual([]);
        expect([...world.planAll().outcomes.values()].filter((it) => it.kind === 'held' && isProblem(it))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
