import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type OvnNorthbound, ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import type { AnyRow } from '../replica/row.ts';
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
import { garbageUnits } from './garbage.ts';
import { ActualRows, Adoptions } from './plan/actual-rows.ts';
import { isProblem, type UnitOutcome } from './plan/outcome.ts';
import { type Plan, plan } from './plan/plan.ts';
import { type Unit, unitId } from './unit.ts';

/** A database, what is wanted of it, and what may be out of order. */
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

  /** Everything that is wanted, and everything of ours that is not. */
  planAll(): Plan {
    return this.plan([...this.untyped.units(), ...garbageUnits(this.untyped, this.actual, CLAIMED)]);
  }

  plan(units: Iterable<Unit>): Plan {
    return plan({ desired: this.untyped, actual: this.actual, units });
  }

  /** Plans and applies what is dirty until nothing is left to do; what is held is tried again with everything else. */
  converge(first?: () => Plan): Plan {
    for (let round = 0; round < 12; round++) {
      const next = round === 0 && first !== undefined ? first() : this.plan([...this.#dirty.values()]);
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

  /** Rows without our mark, without the references to rows with it, which come and go with those. */
  foreign(): SeenRow[] {
    const ours = new Set(
      this.rows()
        .filter(isOurs)
        .map(({ uuid }) => uuid),
    );
    return this.rows()
      .filter((row) => !isOurs(row) && row.table !== 'NB_Global' && row.table !== 'Load_Balancer_Group')
      .map((row) => ({ ...row, columns: withoutReferences(row.columns, ours) }))
      .sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
  }
}

const CLAIMED = { Load_Balancer_Group: (row: AnyRow) => String(row['name']).startsWith('name-of-') };

const isError = (result: unknown): boolean => typeof result === 'object' && result !== null && 'error' in result;
const insertedUuid = (result: unknown) => (result as { uuid: [string, string] }).uuid[1] as never;
const markOf = ({ columns }: SeenRow): unknown =>
  (columns['external_ids'] as Record<string, string> | undefined)?.[OWNER_KEY];
const isOurs = (row: SeenRow): boolean => markOf(row) !== undefined;

const withoutReferences = (columns: SeenRow['columns'], uuids: ReadonlySet<string>): SeenRow['columns'] =>
  Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [
      name,
      Array.isArray(value)
        ? value.filter((element) => !uuids.has(element)).sort()
        : typeof value === 'string' && uuids.has(value)
          ? undefined
          : value,
    ]),
  );

/** Ports that somebody else had put on a switch of ours go with the switch, and then references to them. */
const withoutLost = (before: readonly SeenRow[], after: readonly SeenRow[]): SeenRow[] => {
  const left = new Set(after.map(({ uuid }) => uuid));
  const lost = before.filter(({ table, uuid }) => table === 'Logical_Switch_Port' && !left.has(uuid));
  const uuids = new Set(lost.map(({ uuid }) => uuid));
  return before
    .filter((row) => !lost.includes(row))
    .map((row) => ({ ...row, columns: withoutReferences(row.columns, uuids) }));
};

const heldOf = (outcomes: ReadonlyMap<string, UnitOutcome>): string[] =>
  [...outcomes].flatMap(([id, outcome]) => (outcome.kind === 'held' ? [id] : []));

/** Says of every wish whether it is there, without any of the planner's code. */
const expectFulfilled = (world: World, final: Plan): void => {
  const held = new Set(heldOf(final.outcomes));
  const rows = world.rows();
  const keyOf = new Map(rows.map((row) => [row.uuid, markOf(row) ?? row.uuid]));
  for (const wanted of world.untyped.rows()) {
    if (held.has(unitId({ kind: 'row', table: wanted.table, key: wanted.key }))) continue;
    const found = rows.filter((row) =>
      wanted.table === 'Load_Balancer_Group'
        ? row.table === wanted.table && row.columns['name'] === wanted.columns['name']
        : row.table === wanted.table && markOf(row) === wanted.key,
    );
    expect(found, `rows of ${wanted.key}`).toHaveLength(1);
    const ids = found[0]?.columns['external_ids'] as Record<string, string> | undefined;
    if ('external_ids' in wanted.columns) {
      expect(ids).toEqual({ ...(wanted.columns['external_ids'] as object), [OWNER_KEY]: wanted.key });
    }
    for (const name of ['name', 'tag', 'options', 'other_config', 'priority', 'rate'] as const) {
      if (name in wanted.columns)
        expect(found[0]?.columns[name], `${wanted.key}.${name}`).toEqual(wanted.columns[name]);
    }
  }
  for (const member of world.untyped.members.all()) {
    if (typeof member.row !== 'string' || typeof member.value !== 'object' || !('ref' in member.value)) continue;
    const id = unitId({
      kind: 'member',
      table: member.table,
      target: member.row,
      column: member.column,
      element: member.value.ref,
    });
    if (held.has(id)) continue;
    const parent = rows.find((row) => row.table === member.table && markOf(row) === member.row);
    const keys = (parent?.columns[member.column] as readonly string[] | undefined)?.map((uuid) => keyOf.get(uuid));
    expect(keys, `${member.row}.${member.column}`).toContain(member.value.ref);
  }
  for (const row of rows.filter(isOurs)) {
    if (held.has(unitId({ kind: 'row', table: row.table, key: String(markOf(row)) }))) continue;
    expect(world.untyped.row(String(markOf(row)))?.table, `${row.table} ${String(markOf(row))} is garbage`).toBe(
      row.table,
    );
  }
};

describe('plan', () => {
  it('reaches what is wanted from anything, leaves foreign rows alone, and then has nothing to do', () => {
    fc.assert(
      fc.property(fragments, fragments, disturbances, (before, wanted, harm) => {
        const world = new World();
        world.want(before);
        world.converge(() => world.planAll());
        world.disturb(harm);
        const foreign = world.foreign();
        world.want(wanted);
        world.converge(() => world.planAll());
        const final = world.planAll();
        expect(final.operations).toEqual([]);
        expectFulfilled(world, final);
        expect(world.foreign()).toEqual(expect.arrayContaining(withoutLost(foreign, world.rows())));
      }),
      { numRuns: 150 },
    );
  });

  it('repairs every disturbance of what is ours by what changed alone', () => {
    fc.assert(
      fc.property(fragments, fc.array(disturbances, { maxLength: 3 }), (wanted, harms) => {
        const world = new World();
        world.want(wanted);
        world.converge(() => world.planAll());
        for (const harm of harms) {
          world.disturb(harm);
          world.converge();
          // What was held by the first plan is not in the second; the drift must have been enough for the rest.
          const rest = world.planAll();
          expect(rest.operations, JSON.stringify(harm)).toEqual([]);
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
          expect(world.planAll().operations).toEqual([]);
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
