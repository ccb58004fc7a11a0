import type { Column } from './column.ts';

export interface TableModel {
  readonly columns: Readonly<Record<string, Column>>;
  /** Each is a list of columns whose values together are unique in the table. */
  readonly indexes: readonly (readonly string[])[];
  /** Rows of other tables live only as long as a strong reference to them. */
  readonly isRoot: boolean;
  readonly maxRows?: number;
}

/** A database's schema at run time. `DB` maps the tables' names to the types of their rows. */
export interface DatabaseModel<DB = Tables> {
  readonly name: string;
  readonly version: string;
  readonly tables: { readonly [T in keyof DB]: TableModel };
  /** Never there: it lets the compiler infer `DB`. */
  readonly rowTypes?: DB;
}

/** Any database: what `DB` is where the tables are not known to the compiler. */
export type Tables = Record<string, object>;

export type TableName<DB> = keyof DB & string;

export const tableModel = (model: DatabaseModel, table: string): TableModel | undefined =>
  Object.hasOwn(model.tables, table) ? model.tables[table] : undefined;

export const columnModel = (model: DatabaseModel, table: string, column: string): Column | undefined => {
  const columns = tableModel(model, table)?.columns;
  return columns !== undefined && Object.hasOwn(columns, column) ? columns[column] : undefined;
};
