import type { Indexes, Selection } from '../replica/replica.ts';
import type { KeyFunction } from '../replica/row-index.ts';
import type { DatabaseModel } from '../schema/model.ts';
import { isMarked, markOf, OWNER_INDEX } from './plan/actual-rows.ts';

/**
 * The indexes that a replica needs to be reconciled. Besides these it needs `trackParents`, every column that is to be
 * written, and `external_ids` of every table in which rows of ours can be.
 */
export const ownerIndexes = <DB, const S extends Selection<DB>>(
  model: DatabaseModel<DB>,
  tables: S,
  ownerKey: string,
): Indexes<DB, S> => {
  const keyOf: KeyFunction = (row) => markOf(row, ownerKey);
  const marked = Object.keys(tables).filter((table) => isMarked(model as unknown as DatabaseModel, table));
  return Object.fromEntries(marked.map((table) => [table, { [OWNER_INDEX]: keyOf }])) as unknown as Indexes<DB, S>;
};
