import { isMarked, markOf, OWNER_INDEX } from '../../desired/plan/actual-rows.ts';
import type { RowChange } from '../../replica/row.ts';
import { RowStore } from '../../replica/row-store.ts';
import type { MemoryDatabase } from './database.ts';

/** The rows of an in-memory database as a replica of everything would have them, always current. */
export const mirrorOf = (
  database: MemoryDatabase,
  ownerKey: string,
  onChanges: (changes: readonly RowChange[]) => void = () => {},
): RowStore => {
  const { model } = database;
  const columns = new Map(Object.entries(model.tables).map(([table, { columns }]) => [table, Object.keys(columns)]));
  const store = new RowStore({
    model,
    tables: columns,
    indexes: new Map(
      [...columns.keys()]
        .filter((table) => isMarked(model, table))
        .map((table) => [table, new Map([[OWNER_INDEX, (row) => markOf(row, ownerKey)]])]),
    ),
    trackParents: true,
  });
  store.configure(model);
  store.replace(2, database.initial(2, columns));
  database.watch((before, after) => {
    const changes = store.apply(2, database.changes(2, columns, before, after));
    onChanges(changes);
    store.notifyWaiters(changes);
  });
  return store;
};
