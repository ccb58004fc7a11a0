/** What is found out of a table's columns. */
import type { Column } from './column.ts';
import { type DatabaseModel, tableModel } from './model.ts';

/**
 * Finds it out once for each table of a model, as models do not change: for what is asked for with every row.
 * @param read of the columns by name; of none for a table that the model lacks
 */
export const perTable = <Found>(
  read: (columns: Readonly<Record<string, Column>>) => Found,
): ((model: DatabaseModel, table: string) => Found) => {
  const known = new WeakMap<DatabaseModel, Map<string, Found>>();
  return (model, table) => {
    const tables = known.get(model) ?? new Map<string, Found>();
    known.set(model, tables);
    if (!tables.has(table)) tables.set(table, read(tableModel(model, table)?.columns ?? {}));
    return tables.get(table) as Found;
  };
};
