/**
 * When a database counts as empty. What is inserted in bulk is compared with nothing, so no row may be there that it could be
 * in conflict with, replace or repeat: every table that gets rows has none at all, ours or not. Tables that are only patched,
 * such as NB_Global, have rows from the beginning.
 */
import type { RowStore } from '../../replica/row-store.ts';
import type { WaitOperation } from '../../transact/operation.ts';
import type { DesiredRows } from '../desired-rows.ts';

/** The tables that get rows, when none of them has any and there are at least `minRows` rows to insert; else undefined. */
export const emptyTables = (
  desired: DesiredRows,
  store: RowStore,
  minRows: number,
): ReadonlySet<string> | undefined => {
  const tables = new Set<string>();
  let rows = 0;
  for (const { table } of desired.rows()) {
    rows++;
    if (tables.has(table) || !store.hasTable(table) || !store.supports(table)) continue;
    if (store.size(table) > 0) return undefined;
    tables.add(table);
  }
  return rows < minRows ? undefined : tables;
};

/** Lets a transaction fail unless the server still finds these tables empty: another client may have been faster. */
export const waitsForEmpty = (tables: Iterable<string>): WaitOperation[] =>
  Array.from(tables, (table) => ({
    op: 'wait',
    timeout: 0,
    table,
    where: [],
    columns: ['_uuid'],
    until: '==',
    rows: [],
  }));
