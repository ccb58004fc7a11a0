/**
 * Elements of large sets in the mirror are the texts that are desired there, and not texts of their own that are equal: sets of peers have an
 * element for every pod of a cluster.
 */
import type { RowChange } from '../replica/row.ts';
import { columnModel, type DatabaseModel } from '../schema/model.ts';
import type { DesiredRows } from './desired-rows.ts';
import type { ActualRows } from './plan/actual-rows.ts';

/** Of what a change has added to sets. */
export const shareTexts = (desired: DesiredRows, actual: ActualRows, { table, uuid, after, sets }: RowChange): void => {
  if (sets === undefined || after === undefined) return;
  for (const column in sets) {
    const added = sets[column]?.added ?? [];
    if (added.length === 0 || !hasTexts(actual.model, table, column)) continue;
    const key = actual.keyOf(table, after);
    if (key === undefined || !desired.members.hasColumn(key, column)) continue;
    actual.store.shareTexts(table, uuid, column, added, (text) => desired.members.textOf(key, column, text));
  }
};

/** Of all sets that have members. */
export const shareAllTexts = (desired: DesiredRows, actual: ActualRows): void => {
  for (const { table, target, column } of desired.members.places()) {
    if (!hasTexts(actual.model, table, column)) continue;
    for (const { _uuid } of actual.owned(table, target))
      actual.store.shareTexts(table, _uuid, column, undefined, (text) => desired.members.textOf(target, column, text));
  }
};

const hasTexts = (model: DatabaseModel, table: string, column: string): boolean => {
  const known = columnModel(model, table, column);
  return known?.kind === 'set' && known.key.type === 'string';
};
