/**
 * Finds owned state that is not desired, as an earlier run may have left it: rows, and references to rows of ours in
 * places where they do not belong.
 */
import { elementsOf } from '../replica/element-change.ts';
import type { AnyRow } from '../replica/row.ts';
import { columnModel, tableModel } from '../schema/model.ts';
import { perTable } from '../schema/per-table.ts';
import type { Uuid } from '../uuid.ts';
import type { DesiredRows } from './desired-rows.ts';
import { uuidId } from './identity.ts';
import { type ActualRows, canHaveMark, OWNER_INDEX } from './plan/actual-rows.ts';
import { Lookup } from './plan/lookup.ts';
import { strongParents } from './plan/removal.ts';
import { isWantedBy } from './plan/wanted.ts';
import type { AnyDesiredRow } from './types.ts';
import type { Unit } from './unit.ts';

/** Table without `external_ids` → which of its rows are ours. Rows of tables that are not there are never pruned. */
export type ClaimedRows = Readonly<Record<string, (row: AnyRow) => boolean>>;

/** @param lookup what has been found already, with which nothing was planned */
export function* garbageUnits(
  desired: DesiredRows,
  actual: ActualRows,
  claimed: ClaimedRows = {},
  lookup = new Lookup(desired, actual),
): Iterable<Unit> {
  for (const table of actual.store.tableNames) {
    if (canHaveMark(actual.store, table)) yield* markedGarbage(desired, actual, table);
    else if (claimed[table] !== undefined) yield* claimedGarbage(lookup, table, claimed[table]);
  }
  for (const desiredRow of desired.rows()) {
    if (lookup.isSettled(desiredRow.key)) continue;
    const row = actual.store.hasTable(desiredRow.table) ? lookup.existing(desiredRow) : undefined;
    if (row !== undefined) yield* strays(desired, actual, desiredRow, row);
  }
}

/** Whether something is in a row of ours, or holds it, that does not belong there. */
export const hasStrays = (
  desired: DesiredRows,
  actual: ActualRows,
  desiredRow: AnyDesiredRow,
  row: AnyRow,
): boolean => {
  for (const _stray of strays(desired, actual, desiredRow, row)) return true;
  return false;
};

function* strays(desired: DesiredRows, actual: ActualRows, desiredRow: AnyDesiredRow, row: AnyRow): Iterable<Unit> {
  yield* strayElements(desired, actual, desiredRow, row);
  yield* strayParents(desired, actual, desiredRow, row);
}

function* markedGarbage(desired: DesiredRows, actual: ActualRows, table: string): Iterable<Unit> {
  const keys = [...actual.store.indexKeys(table, OWNER_INDEX)].filter((key) => desired.row(key)?.table !== table);
  for (const key of lowestFirst(actual, table, keys)) yield { kind: 'row', table, key };
}

/**
 * They may be more than one transaction. What goes after its betters could decide for a moment what never was its to decide: an ACL that
 * allows, where one above it denied.
 */
const lowestFirst = (actual: ActualRows, table: string, keys: readonly string[]): readonly string[] => {
  if (keys.length < 2 || columnModel(actual.model, table, 'priority') === undefined) return keys;
  if (!actual.store.hasColumn(table, 'priority')) return keys;
  const priorityOf = (key: string): number => Number(actual.owned(table, key)[0]?.['priority'] ?? 0);
  return keys
    .map((key) => ({ key, priority: priorityOf(key) }))
    .sort((a, b) => a.priority - b.priority)
    .map(({ key }) => key);
};

function* claimedGarbage(lookup: Lookup, table: string, isClaimed: (row: AnyRow) => boolean): Iterable<Unit> {
  const { desired, actual } = lookup;
  const desiredRows = new Set<Uuid>();
  for (const row of desired.rows()) {
    const existing = row.table === table ? lookup.existing(row) : undefined;
    if (existing !== undefined) desiredRows.add(existing._uuid);
  }
  for (const row of actual.store.rows(table)) {
    if (desiredRows.has(row._uuid) || !isClaimed(row)) continue;
    const key = actual.adoptions.keyOf(row._uuid) ?? uuidId(row._uuid);
    actual.adoptions.add(table, key, row._uuid);
    yield { kind: 'row', table, key };
  }
}

/** References to rows of ours in sets of a row where no owner desires them. */
export function* strayElements(
  desired: DesiredRows,
  actual: ActualRows,
  desiredRow: AnyDesiredRow,
  row: AnyRow,
): Iterable<Unit> {
  const { table, key: target } = desiredRow;
  for (const column of referenceSets(actual.model, table)) {
    if (!actual.store.hasColumn(table, column)) continue;
    for (const element of elementsOf(row, column)) {
      const key = actual.keyOfReferred(table, column, element as Uuid);
      if (key === undefined || isWantedBy(desired, actual, { table, column, row }, key)) continue;
      yield { kind: 'member', table, target, column, element: key };
    }
  }
}

/** The columns of a table that are sets of references. */
const referenceSets = perTable((columns) =>
  Object.entries(columns).flatMap(([column, { kind, key }]) =>
    kind === 'set' && key.refTable !== undefined ? [column] : [],
  ),
);

/** Rows that keep a row of ours alive although it does not belong to them, for example the switch that a port has left. */
export function* strayParents(
  desired: DesiredRows,
  actual: ActualRows,
  desiredRow: AnyDesiredRow,
  row: AnyRow,
): Iterable<Unit> {
  // What refers to a root row does not keep it alive: that is nobody's business but its own.
  if (tableModel(actual.model, desiredRow.table)?.isRoot) return;
  for (const parent of strongParents(actual, desiredRow.table, row)) {
    if (!isWantedBy(desired, actual, parent, desiredRow.key)) {
      const { table, column } = parent;
      yield { kind: 'member', table, target: uuidId(parent.row._uuid), column, element: desiredRow.key };
    }
  }
}

/** References in sets of rows of ours to a row that is only now known to be ours, where no owner desires them. */
export function* strayReferences(
  desired: DesiredRows,
  actual: ActualRows,
  { table, key }: AnyDesiredRow,
  row: AnyRow,
): Iterable<Unit> {
  for (const parent of strongParents(actual, table, row)) {
    const target = actual.keyOf(parent.table, parent.row);
    if (target === undefined || desired.row(target)?.table !== parent.table) continue;
    if (isWantedBy(desired, actual, parent, key)) continue;
    yield { kind: 'member', table: parent.table, target, column: parent.column, element: key };
  }
}
