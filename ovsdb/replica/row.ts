/** Rows as the replica keeps them, where their table's type is not known to the compiler. */
import type { SetValue, Value } from '../codec/value.ts';
import type { Uuid } from '../uuid.ts';

/**
 * Never changed: a changed row is a new object, and unchanged columns are shared with the old one. But for large sets, which are changed in
 * place (`ElementIndex`): `before` of a change has them as they are after it, so ask `elementChange`.
 */
export type AnyRow = { readonly _uuid: Uuid } & Readonly<Record<string, Value>>;

/** What happened to one row. `before` is undefined for a new row, `after` for one that is gone. */
export interface RowChange<Row = AnyRow> {
  readonly table: string;
  readonly uuid: Uuid;
  readonly before: Row | undefined;
  readonly after: Row | undefined;
  /** The columns that differ, where both rows are there. */
  readonly columns: readonly string[];
  /** For columns whose difference the server has sent; ask `elementChange`. */
  readonly sets?: Readonly<Record<string, ElementChange>>;
}

export interface ElementChange {
  readonly added: SetValue;
  readonly removed: SetValue;
}
