/**
 * Knows which rows hold a strong reference to a row: what keeps it alive, or keeps it from being deleted. To find that out
 * would otherwise mean to look through all rows of all tables that could.
 */
import type { Scalar } from '../codec/value.ts';
import type { DatabaseModel } from '../schema/model.ts';
import type { Uuid } from '../uuid.ts';
import { elementChange } from './element-change.ts';
import type { RowChange } from './row.ts';

/** A column with strong references to rows of `child`. */
export interface ParentColumn {
  readonly table: string;
  readonly column: string;
  readonly child: string;
}

/** The columns with strong references. References from a map's values are not followed. */
export const parentColumns = (model: DatabaseModel): ParentColumn[] =>
  Object.entries(model.tables).flatMap(([table, { columns }]) =>
    Object.entries(columns).flatMap(([column, { kind, key }]) => {
      const child = key.refTable;
      if (kind === 'map' || child === undefined || key.weak) return [];
      return [{ table, column, child }];
    }),
  );

export class ParentIndex {
  readonly #columns = new Map<string, string[]>();
  /** Child → parent; mostly there is exactly one. */
  readonly #parents = new Map<Scalar, Uuid | Uuid[]>();

  constructor(columns: readonly ParentColumn[]) {
    for (const { table, column } of columns) this.#columns.set(table, [...(this.#columns.get(table) ?? []), column]);
  }

  /** The rows that refer to `child`; a row is there once for each of its columns that does. */
  of(child: Uuid): readonly Uuid[] {
    const parents = this.#parents.get(child);
    if (parents === undefined) return [];
    return typeof parents === 'string' ? [parents] : parents;
  }

  update(change: RowChange): void {
    const columns = this.#columns.get(change.table);
    if (columns === undefined) return;
    for (const column of columns) {
      const { added, removed } = elementChange(change, column);
      for (const child of removed) this.#remove(child, change.uuid);
      for (const child of added) this.#add(child, change.uuid);
    }
  }

  #add(child: Scalar, parent: Uuid): void {
    const known = this.#parents.get(child);
    if (known === undefined) this.#parents.set(child, parent);
    else this.#parents.set(child, typeof known === 'string' ? [known, parent] : [...known, parent]);
  }

  #remove(child: Scalar, parent: Uuid): void {
    const known = this.#parents.get(child);
    if (known === parent) this.#parents.delete(child);
    else if (typeof known === 'object') {
      const [one, ...others] = known.toSpliced(known.indexOf(parent), 1);
      if (one === undefined) this.#parents.delete(child);
      else this.#parents.set(child, others.length === 0 ? one : [one, ...others]);
    }
  }
}
