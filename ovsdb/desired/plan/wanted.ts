/** Says what somebody wants where it is. Rows and elements have several names: a wish may use any of them. */
import type { Scalar } from '../../codec/value.ts';
import type { AnyRow } from '../../replica/row.ts';
import { columnModel } from '../../schema/model.ts';
import type { Uuid } from '../../uuid.ts';
import type { DesiredRows } from '../desired-rows.ts';
import { type ElementId, elementId } from '../identity.ts';
import { referencesIn } from '../store/references.ts';
import type { DesiredElement } from '../types.ts';
import type { ActualRows } from './actual-rows.ts';
import { uniqueTargets } from './tokens.ts';

/** A column of a row that is there. */
export interface Place {
  readonly table: string;
  readonly column: string;
  readonly row: AnyRow;
}

/** True when somebody wants there what has this id; it may be wanted by another, too. */
export const isWantedBy = (desired: DesiredRows, actual: ActualRows, place: Place, id: ElementId): boolean => {
  const { table, column, row } = place;
  const owner = actual.keyOf(table, row);
  // Nearly always it is so, and the rest takes longer to find out.
  if (owner !== undefined && desired.members.get(owner, column, id) !== undefined) return true;
  const wanted = owner === undefined ? undefined : desired.row(owner);
  const given = wanted?.table === table ? wanted.columns[column] : undefined;
  const elements: readonly DesiredElement[] = Array.isArray(given) ? given : referencesIn(given);
  if (elements.some((element) => elementId(element) === id)) return true;
  const targets = uniqueTargets(actual, table, row);
  return targets.some((target) => desired.members.get(target, column, id) !== undefined);
};

/** True when somebody wants an element of a set to stay there. */
export const isWantedElement = (desired: DesiredRows, actual: ActualRows, place: Place, element: Scalar): boolean =>
  elementIds(actual, place.table, place.column, element).some((id) => isWantedBy(desired, actual, place, id));

/** The ids that can mean an element of a set. */
export const elementIds = (actual: ActualRows, table: string, column: string, element: Scalar): ElementId[] => {
  const refTable = columnModel(actual.model, table, column)?.key.refTable;
  if (refTable === undefined) return [String(element)];
  if (!actual.store.hasTable(refTable)) return [];
  const row = actual.store.get(refTable, element as Uuid);
  if (row === undefined) return [];
  const key = actual.keyOf(refTable, row);
  return [...(key === undefined ? [] : [key]), ...uniqueTargets(actual, refTable, row)];
};
