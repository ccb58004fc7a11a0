/** Returns whether a database is exactly as desired, without any of the planner's code. */
import { expect } from 'vitest';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import type { Base, Column } from '../schema/column.ts';
import { columnModel, type DatabaseModel } from '../schema/model.ts';
import type { Uuid } from '../uuid.ts';
import { OWNER_KEY, type SeenRow } from './convergence.suite.ts';
import type { DesiredRows } from './desired-rows.ts';
import { elementId, isForeignRef, isRowRef, targetId } from './identity.ts';
import { Adoptions } from './plan/actual-rows.ts';
import type { Held, UnitOutcome } from './plan/outcome.ts';
import { type MemberAddress, memberAddress } from './store/member-sets.ts';
import type { AnyDesiredRow, AnyMember, DesiredElement, DesiredValue, ForeignRef } from './types.ts';
import { type Unit, unitId } from './unit.ts';

const MODEL = ovnNorthbound as unknown as DatabaseModel;

/** Rows of the only table without `external_ids` that the wishes use are ours by their names. */
export const CLAIMED = { Load_Balancer_Group: (row: object) => isClaimedName((row as { name?: unknown }).name) };
const isClaimedName = (name: unknown): boolean => String(name).startsWith('name-of-');

const markOf = ({ columns }: SeenRow): string | undefined =>
  (columns['external_ids'] as Record<string, string> | undefined)?.[OWNER_KEY];
const isOurs = (row: SeenRow): boolean =>
  row.table === 'Load_Balancer_Group' ? isClaimedName(row.columns['name']) : markOf(row) !== undefined;

/** What a reconciler has learnt of the rows that cannot carry our mark. */
export const adoptionsOf = (rows: readonly SeenRow[]): Adoptions => {
  const adoptions = new Adoptions();
  for (const { table, uuid, columns } of rows) {
    if (table !== 'Load_Balancer_Group') continue;
    adoptions.add(table, String(columns['name']).replace('name-of-', ''), uuid as Uuid);
  }
  return adoptions;
};

/** The desired state, what is there, and of which of it the planner says that it cannot be had now. */
class Comparison {
  readonly desired: DesiredRows;
  readonly rows: readonly SeenRow[];
  readonly #held: ReadonlyMap<string, Held>;
  readonly #byUuid: ReadonlyMap<string, SeenRow>;

  constructor(desired: DesiredRows, rows: readonly SeenRow[], outcomes: ReadonlyMap<string, UnitOutcome>) {
    this.desired = desired;
    this.rows = rows;
    this.#held = new Map([...outcomes].flatMap(([id, it]) => (it.kind === 'held' ? [[id, it] as const] : [])));
    this.#byUuid = new Map(rows.map((row) => [row.uuid, row]));
  }

  held(unit: Unit): Held | undefined {
    return this.#held.get(unitId(unit));
  }

  /** The row with a key, by its marks or names. */
  withKey(table: string, key: string): SeenRow[] {
    return this.rows.filter((row) =>
      table === 'Load_Balancer_Group'
        ? row.table === table && row.columns['name'] === `name-of-${key}`
        : row.table === table && markOf(row) === key,
    );
  }

  at({ table, at }: ForeignRef): SeenRow | undefined {
    return this.rows.find(
      (row) => row.table === table && Object.entries(at).every(([name, value]) => row.columns[name] === value),
    );
  }

  target(table: string, row: string | ForeignRef): SeenRow | undefined {
    return typeof row === 'string' ? this.withKey(table, row)[0] : this.at(row);
  }

  /** How an element is in the database; undefined for a reference to what is not there. */
  resolved(base: Base, element: DesiredElement): unknown {
    if (isRowRef(element)) return this.withKey(base.refTable ?? '', element.ref)[0]?.uuid;
    return isForeignRef(element) ? this.at(element)?.uuid : element;
  }

  keyOf(uuid: unknown): string | undefined {
    const row = this.#byUuid.get(String(uuid));
    return row === undefined ? undefined : markOf(row);
  }
}

export const expectFulfilled = (
  desired: DesiredRows,
  rows: readonly SeenRow[],
  outcomes: ReadonlyMap<string, UnitOutcome>,
): void => {
  const world = new Comparison(desired, rows, outcomes);
  for (const desiredRow of desired.rows()) expectRow(world, desiredRow);
  for (const member of desired.members.all()) expectMember(world, member);
  for (const row of rows) {
    if (isOurs(row)) expectWanted(world, row);
    expectNoStrays(world, row);
  }
  expectPatch(world);
};

const expectRow = (world: Comparison, desiredRow: AnyDesiredRow): void => {
  const { table, key } = desiredRow;
  const held = world.held({ kind: 'row', table, key });
  if (held !== undefined) {
    expectReason(world, desiredRow, held);
    return;
  }
  const found = world.withKey(table, key);
  expect(found, `rows of ${key}`).toHaveLength(1);
  for (const [name, value] of Object.entries(desiredRow.columns)) {
    const column = columnOf(table, name);
    const actual = found[0]?.columns[name];
    if (column.kind === 'set') expectSet(world, desiredRow, name, column, actual as readonly unknown[]);
    else expect(actual, `${key}.${name}`).toEqual(expectedValue(world, desiredRow, name, column, value));
  }
};

const expectedValue = (
  world: Comparison,
  { key }: AnyDesiredRow,
  name: string,
  column: Column,
  value: DesiredValue,
): unknown => {
  if (column.kind === 'map') return { ...(value as object), ...(name === 'external_ids' && { [OWNER_KEY]: key }) };
  return value === undefined ? undefined : world.resolved(column.key, value as DesiredElement);
};

/** Exactly the given elements and the members; a member that is held may be there and may not. */
const expectSet = (
  world: Comparison,
  { table, key, columns }: AnyDesiredRow,
  name: string,
  { key: base }: Column,
  actual: readonly unknown[],
): void => {
  const given = columns[name] as readonly DesiredElement[];
  const members = [...world.desired.members.of(key, name)].map(({ value }) => value);
  const isHeld = (value: DesiredElement): boolean =>
    world.held({ kind: 'member', table, target: key, column: name, element: elementId(value) }) !== undefined;
  const required = [...given, ...members.filter((it) => !isHeld(it))].map((it) => world.resolved(base, it));
  const possible = members.filter(isHeld).map((it) => world.resolved(base, it));
  const what = `${key}.${name}`;
  expect(required, what).not.toContain(undefined);
  expect(new Set(actual).size, what).toBe(actual.length);
  expect(actual, what).toEqual(expect.arrayContaining([...new Set(required)]));
  expect([...required, ...possible], what).toEqual(expect.arrayContaining([...actual]));
};

const expectMember = (world: Comparison, member: AnyMember): void => {
  if (world.held({ kind: 'member', ...memberAddress(member) }) !== undefined) return;
  const { table, column, row, value } = member;
  const elements = world.target(table, row)?.columns[column];
  const what = `${targetId(row)}.${column} ${elementId(value)}`;
  const element = world.resolved(columnOf(table, column).key, value);
  expect(element, what).toBeDefined();
  expect(elements, what).toContain(element);
};

/** What is ours is desired, or there is a reason why it has to stay. */
const expectWanted = (world: Comparison, row: SeenRow): void => {
  const { table, columns, uuid } = row;
  const key = markOf(row) ?? String(columns['name']).replace('name-of-', '');
  if (world.desired.row(key)?.table === table || world.held({ kind: 'row', table, key }) !== undefined) return;
  // A row without a mark goes by its uuid when no owner desired it since the start.
  if (world.held({ kind: 'row', table, key: `\0uuid\0${uuid}` }) !== undefined) return;
  expect.fail(`${table} ${key} is garbage`);
};

const REFERENCES = [
  ['Logical_Switch', 'ports'],
  ['Port_Group', 'ports'],
  ['Port_Group', 'acls'],
] as const;

/**
 * References to rows of ours are only where an owner desires them; in rows that are not ours those that keep rows alive.
 */
const expectNoStrays = (world: Comparison, row: SeenRow): void => {
  for (const [table, column] of REFERENCES) {
    if (row.table === table) expectNoStraysIn(world, row, column);
  }
};

const expectNoStraysIn = (world: Comparison, row: SeenRow, column: string): void => {
  const { table, uuid, columns } = row;
  const mark = markOf(row);
  const owner = mark !== undefined && world.desired.row(mark)?.table === table ? mark : undefined;
  // A row of ours that no owner desires is garbage itself; a weak reference from elsewhere keeps nothing alive.
  if (owner === undefined && (mark !== undefined || columnOf(table, column).key.weak)) return;
  const given = owner === undefined ? undefined : world.desired.row(owner)?.columns[column];
  const desiredIds = Array.isArray(given) ? given.map(elementId) : [];
  const targets = [owner ?? targetId({ table, at: { name: String(columns['name']) } }), `\0uuid\0${uuid}`];
  const strays = (columns[column] as readonly unknown[])
    .map((element) => world.keyOf(element))
    .filter((key) => key !== undefined && world.desired.row(key) !== undefined && !desiredIds.includes(key))
    .filter((key) => !targets.some((target) => isKnownMember(world, { table, target, column, element: key ?? '' })));
  expect(strays, `${column} of ${table} ${uuid}`).toEqual([]);
};

/** An owner desires it, or it has to stay for now. */
const isKnownMember = (world: Comparison, at: MemberAddress): boolean =>
  world.desired.members.get(at.target, at.column, at.element) !== undefined ||
  world.held({ kind: 'member', ...at }) !== undefined ||
  world.held({ kind: 'row', table: at.table, key: at.target }) !== undefined;

/** A row is not held without a reason that can be seen. */
const expectReason = (world: Comparison, desiredRow: AnyDesiredRow, { code, message }: Held): void => {
  const { table, key, columns } = desiredRow;
  if (code === 'ERR_OVSDB_CONFLICT') {
    const { name } = columns;
    const rivals = [
      ...world.rows.filter((row) => row.table === table && markOf(row) !== key).map((row) => row.columns['name']),
      ...[...world.desired.rows()]
        .filter((row) => row.table === table && row.key !== key)
        .map((it) => it.columns['name']),
    ];
    expect(rivals, message).toContain(name);
    return;
  }
  expect(code, message).toBe('ERR_OVSDB_UNRESOLVED');
  if (!MODEL.tables[table]?.isRoot) return;
  const resolved = Object.entries(columns).flatMap(([name, value]) => {
    const elements = (Array.isArray(value) ? value : [value]) as DesiredElement[];
    return elements
      .filter((it) => isRowRef(it) || isForeignRef(it))
      .map((it) => world.resolved(columnOf(table, name).key, it));
  });
  expect(resolved, message).toContain(undefined);
};

/** The only patched row is NB_Global, with one column and one entry of a map. */
const expectPatch = ({ desired, rows }: Comparison): void => {
  const row = rows.find(({ table }) => table === 'NB_Global');
  const patches = desired.patches('\0only\0NB_Global');
  const name = patches.find(({ columns }) => columns !== undefined)?.columns?.['name'];
  const ours = patches.find(({ entries }) => entries !== undefined)?.entries?.['options']?.['ours'];
  if (name !== undefined) expect(row?.columns['name']).toBe(name);
  const options = (row?.columns['options'] ?? {}) as Record<string, string>;
  if (ours !== undefined) expect(options['ours']).toBe(ours ?? undefined);
};

const columnOf = (table: string, name: string): Column => {
  const column = columnModel(MODEL, table, name);
  if (column === undefined) throw new Error(`${table} has no column ${name}`);
  return column;
};

/**
 * What is not ours, without what comes and goes with us: references to rows of ours, and what we patch. Nor references to no
 * row: now and then ovsdb-server 3.5 keeps a weak one to a row that it has collected as garbage.
 */
export const foreignRows = (rows: readonly SeenRow[]): SeenRow[] => {
  const foreign = rows.filter((row) => !isOurs(row));
  const uuids = new Set(foreign.map(({ uuid }) => uuid));
  const isLost = (value: unknown): boolean => isUuid(value) && !uuids.has(value);
  return foreign
    .map((row) => ({ ...row, columns: withoutReferences(unpatched(row), isLost) }))
    .sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
};

const unpatched = ({ table, columns }: SeenRow): SeenRow['columns'] => {
  if (table !== 'NB_Global') return columns;
  const { ours: _ours, ...options } = columns['options'] as Record<string, unknown>;
  return { ...columns, name: undefined, options };
};

/**
 * What was there is there as it was. Ports that somebody else had put on a switch of ours go with the switch, and then
 * references to them. Of references, those between rows of `before` count: one to a row of ours that somebody makes his own may be under way
 * to be taken away.
 */
export const expectUntouched = (before: readonly SeenRow[], rows: readonly SeenRow[]): void => {
  const left = new Set(rows.map(({ uuid }) => uuid));
  const isLost = ({ table, uuid }: SeenRow): boolean => table === 'Logical_Switch_Port' && !left.has(uuid);
  const kept = before.filter((row) => !isLost(row));
  const known = new Set(kept.map(({ uuid }) => uuid));
  const isUnknown = (value: unknown): boolean => isUuid(value) && !known.has(value);
  const after = new Map(foreignRows(rows).map((row) => [row.uuid, row]));
  for (const row of kept) {
    const found = after.get(row.uuid);
    expect(
      found && { ...found, columns: withoutReferences(found.columns, isUnknown) },
      `${row.table} ${row.uuid}`,
    ).toEqual({ ...row, columns: withoutReferences(row.columns, isUnknown) });
  }
};

const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);

const withoutReferences = (columns: SeenRow['columns'], isLost: (value: unknown) => boolean): SeenRow['columns'] =>
  Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.filter((element) => !isLost(element)).sort() : isLost(value) ? undefined : value,
    ]),
  );
