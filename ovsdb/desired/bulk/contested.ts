/** Rows that want the same place in a unique index. The ordinary path says who gets it, whatever came first. */
import { indexKey } from '../../replica/row-index.ts';
import { tableModel } from '../../schema/model.ts';
import type { DesiredRows } from '../desired-rows.ts';
import type { ActualRows } from '../plan/actual-rows.ts';
import type { AnyDesiredRow } from '../types.ts';

/** The keys of rows that are not alone in wanting a place, or of which that cannot be said. */
export const contestedKeys = (desired: DesiredRows, { model }: ActualRows): ReadonlySet<string> => {
  const places = new Map<string, string>();
  const contested = new Set<string>();
  for (const row of desired.rows()) {
    for (const index of tableModel(model, row.table)?.indexes ?? []) {
      const place = `${row.table}\n${index.join()}\n${indexKey(index.map((name) => placeValue(row, name)))}`;
      const other = places.get(place);
      if (other === undefined) places.set(place, row.key);
      else contested.add(row.key).add(other);
    }
  }
  return contested;
};

/** A reference by what it refers to; what is not given has the column's default value, the same in all rows. */
const placeValue = ({ columns }: AnyDesiredRow, name: string): string | number | boolean | undefined => {
  const value = columns[name];
  return typeof value === 'object' ? JSON.stringify(value) : value;
};
