/** What keeps a row alive, and from being removed. */

import { elementsOf } from '../../replica/element-change.ts';
import { parentColumns } from '../../replica/parents.ts';
import type { AnyRow } from '../../replica/row.ts';
import { columnModel, tableModel } from '../../schema/model.ts';
import type { Referrer } from '../desired-rows.ts';
import { isRowRef, uuidId } from '../identity.ts';
import { referencesIn } from '../store/references.ts';
import type { RowUnit } from '../unit.ts';
import type { ActualRows } from './actual-rows.ts';
import type { PlanContext } from './context.ts';
import type { Lookup } from './lookup.ts';
import type { Held } from './outcome.ts';
import { targetToken } from './tokens.ts';

export interface StrongParent {
  readonly table: string;
  readonly column: string;
  readonly row: AnyRow;
}

/** The rows that hold a strong reference to a row, and where. */
export const strongParents = (actual: ActualRows, table: string, row: AnyRow): StrongParent[] => {
  const { store, model } = actual;
  const parents = store.parentsOf(row._uuid);
  if (parents.length === 0) return [];
  return parentColumns(model)
    .filter(({ child, table: parentTable, column }) => child === table && store.hasColumn(parentTable, column))
    .flatMap(({ table: parentTable, column }) =>
      parents.flatMap((uuid) => {
        const parent = store.get(parentTable, uuid);
        if (parent === undefined || !store.hasElement(parentTable, uuid, column, row._uuid)) return [];
        return [{ table: parentTable, column, row: parent }];
      }),
    );
};

/** Why a row that nobody wants has to stay for now. */
export const removalObstacle = (context: PlanContext, { table, key }: RowUnit, row: AnyRow): Held | undefined => {
  const { lookup, actual } = context;
  for (const referrer of lookup.desired.referrers(key)) {
    if ('columns' in referrer && isStrongReferrer(lookup, referrer, key)) {
      return held(`"${key}" is no longer desired, but "${referrer.key}" refers to it`, key);
    }
  }
  const isRoot = tableModel(actual.model, table)?.isRoot ?? true;
  const keeper = strongParents(actual, table, row).find((parent) =>
    isRoot ? isForeign(actual, parent) : isFinal(context, parent),
  );
  if (keeper === undefined) return undefined;
  const whose = isForeign(actual, keeper) ? ', which is foreign,' : '';
  const what = `row ${keeper.row._uuid} of ${keeper.table}${whose} refers to it`;
  return held(`"${key}" cannot be removed: ${what}`, uuidId(keeper.row._uuid));
};

const isForeign = (actual: ActualRows, { table, row }: StrongParent): boolean => actual.keyOf(table, row) === undefined;

/** True when a row cannot let go of an element because it must have so many, and this plan gives it no other. */
export const isFinal = ({ actual, desired, feasible }: PlanContext, { table, column, row }: StrongParent): boolean => {
  const min = columnModel(actual.model, table, column)?.min ?? 0;
  if (elementsOf(row, column).length > min) return false;
  const key = actual.keyOf(table, row);
  const isWritten = key !== undefined && desired.row(key)?.table === table && feasible.has(key);
  return !isWritten || feasible.obstacle(key) !== undefined;
};

/** True when a referrer counts (it is what its winner wants) and its reference keeps the row with this key alive. */
export const isStrongReferrer = ({ desired, actual }: Lookup, referrer: Referrer, key: string): boolean => {
  if (!('columns' in referrer))
    return columnModel(actual.model, referrer.table, referrer.column)?.key.weak === undefined;
  if (desired.row(referrer.key) !== referrer) return false;
  return Object.entries(referrer.columns).some(([name, value]) => {
    const column = columnModel(actual.model, referrer.table, name);
    const isWeak = column?.key.weak ?? column?.value?.weak ?? false;
    return !isWeak && referencesIn(value).some((reference) => isRowRef(reference) && reference.ref === key);
  });
};

const held = (message: string, id: string): Held => ({
  kind: 'held',
  code: 'ERR_OVSDB_UNRESOLVED',
  message,
  tokens: [targetToken(id)],
});
