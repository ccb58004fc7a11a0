/** What of a model a server has: servers may be older or newer than the model (ovsdb(7), "Schema Conversion"). */
import type { Column } from './column.ts';
import { columnModel, type DatabaseModel, tableModel } from './model.ts';

/** A table, or one column of a table, that the model has and the server has not. */
export interface Unsupported {
  readonly table: string;
  readonly column?: string;
}

export interface Support {
  /** Table → its columns that can be used. Tables that the server lacks are not there. */
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>;
  readonly unsupported: readonly Unsupported[];
}

/** Compares the tables and columns of `wanted` with what the server has. */
export const supportOf = (
  model: DatabaseModel,
  server: DatabaseModel,
  requested: ReadonlyMap<string, readonly string[]>,
): Support => {
  const tables = new Map<string, Set<string>>();
  const unsupported: Unsupported[] = [];
  for (const [table, columns] of requested) {
    if (tableModel(server, table) === undefined) {
      unsupported.push({ table });
      continue;
    }
    const usable = columns.filter((column) =>
      isUsable(columnModel(model, table, column), columnModel(server, table, column)),
    );
    tables.set(table, new Set(usable));
    for (const column of columns) if (!usable.includes(column)) unsupported.push({ table, column });
  }
  return { tables, unsupported };
};

/** True when every value that the server may hold can be read as the model's kind of value. */
export const isUsable = (model: Column | undefined, server: Column | undefined): boolean => {
  if (model === undefined || server === undefined) return false;
  if (model.key.type !== server.key.type || model.value?.type !== server.value?.type) return false;
  if (model.kind === server.kind) return true;
  return (model.kind === 'set' && server.kind !== 'map') || (model.kind === 'optional' && server.kind === 'scalar');
};
