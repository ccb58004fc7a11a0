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
export const parentColumns = (model: DatabaseModel): readonly ParentColumn[] => {
  const known = parentColumnsOf.get(model);
  if (known !== undefined) return known;
  const columns = readParentColumns(model);
  parentColumnsOf.set(model, columns);
  return columns;
};

/** Asked for with every row that comes, and the same for as long as the model lives. */
const parentColumnsOf = new WeakMap<DatabaseModel, readonly ParentColumn[]>();

const readParentColumns = (model: DatabaseModel): ParentColumn[] =>
  Object.entries(model.tables).flatMap(([table, { columns }]) =>
    Object.entries(columns).flatMap(([column, { kind, key }]) => {
      const child = key.refTable;
      if (kind === 'map' || child === undefined || key.weak) return [];
      return [{ table, column, child }];
    }),
  );

export class ParentIndex {
  readonly #columns = new Map<string, string[]>();
  /** Child → parent; mostly there is exactly one. Of several each has the number of its columns that refer to the child. */
  readonly #parents = new Map<Scalar, Uuid | Map<Uuid, number>>();

  constructor(columns: readonly ParentColumn[]) {
    for (const { table, column } of columns) this.#columns.set(table, [...(this.#columns.get(table) ?? []), column]);
  }

  /** The rows that refer to `child`, each once. */
  of(child: Uuid): readonly Uuid[] {
    const parents = this.#parents.get(child);
    if (parents === undefined) return [];
    return typeof parents === 'string' ? [parents] : [...parents.keys()];
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
    else {
      const parents = typeof known === 'string' ? new Map([[known, 1]]) : known;
      this.#parents.set(child, parents.set(parent, (parents.get(parent) ?? 0) + 1));
    }
  }

  #remove(child: Scalar, parent: Uuid): void {
    const known = this.#parents.get(child);
    if (known === parent) this.#parents.delete(child);
    if (known === undefined || typeof known === 'string') return;
    const columns = known.get(parent) ?? 0;
    if (columns > 1) known.set(parent, columns - 1);
    else known.delete(parent);
    const [first, second] = known;
    if (first !== undefined && second === undefined && first[1] === 1) this.#parents.set(child, first[0]);
  }
}
