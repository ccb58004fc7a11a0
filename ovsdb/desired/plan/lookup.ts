/** Finds the rows that desired rows and references stand for. */
import { sameValue } from '../../codec/equal.ts';
import type { Value } from '../../codec/value.ts';
import type { AnyRow } from '../../replica/row.ts';
import type { Column } from '../../schema/column.ts';
import { columnModel, tableModel } from '../../schema/model.ts';
import { perTable } from '../../schema/per-table.ts';
import type { Uuid } from '../../uuid.ts';
import type { DesiredRows } from '../desired-rows.ts';
import { isForeignRef, isRowRef, parseTarget, type TargetId } from '../identity.ts';
import type { AnyDesiredRow, ForeignRef } from '../types.ts';
import { type ActualRows, isMarked } from './actual-rows.ts';

export class Lookup {
  readonly desired: DesiredRows;
  readonly actual: ActualRows;
  /** Rows that this plan removes. */
  readonly gone = new Set<Uuid>();
  readonly #usable = new Map<string, Map<string, Column | undefined>>();
  readonly #existing = new Map<AnyDesiredRow, AnyRow | undefined>();

  /** Whether a desired row is known to be as it is wanted, with all of its members, and with nothing that does not belong there. */
  readonly isSettled: (key: string) => boolean;

  constructor(desired: DesiredRows, actual: ActualRows, isSettled: (key: string) => boolean = () => false) {
    this.desired = desired;
    this.actual = actual;
    this.isSettled = isSettled;
  }

  /** Undefined for a column that cannot be compared or written. */
  usable(table: string, name: string): Column | undefined {
    let columns = this.#usable.get(table);
    if (columns === undefined) {
      columns = new Map();
      this.#usable.set(table, columns);
    }
    if (!columns.has(name)) columns.set(name, this.#findUsable(table, name));
    return columns.get(name);
  }

  /** The row that is there for a desired row and stays. */
  existing(wanted: AnyDesiredRow): AnyRow | undefined {
    const known = this.#existing.get(wanted);
    if (known !== undefined || this.#existing.has(wanted)) return known;
    const row = this.#find(wanted);
    this.#existing.set(wanted, row);
    return row;
  }

  /** The row of ours with a key in a table, wanted or not. */
  owned(table: string, key: string): AnyRow | undefined {
    const wanted = this.desired.row(key);
    if (wanted?.table === table) return this.existing(wanted);
    return this.actual.owned(table, key).find(({ _uuid }) => !this.gone.has(_uuid));
  }

  foreign({ table, at }: ForeignRef): AnyRow | undefined {
    const row = this.actual.store.hasTable(table) ? this.actual.at(table, at) : undefined;
    return row === undefined || this.gone.has(row._uuid) ? undefined : row;
  }

  /** The row that a member or a patch is for. */
  target(table: string, id: TargetId): AnyRow | undefined {
    const target = parseTarget(id);
    const { store } = this.actual;
    if (!store.hasTable(table)) return undefined;
    switch (target.kind) {
      case 'own':
        return this.owned(table, target.key);
      case 'uuid':
        return store.get(table, target.uuid as Uuid);
      case 'only':
        return store.rows(table).next().value;
      case 'at':
        return this.foreign(target);
    }
  }

  #findUsable(table: string, name: string): Column | undefined {
    const { store, model } = this.actual;
    return store.hasColumn(table, name) && store.supports(table, name) ? columnModel(model, table, name) : undefined;
  }

  #find(wanted: AnyDesiredRow): AnyRow | undefined {
    const rows = this.actual.owned(wanted.table, wanted.key).filter(({ _uuid }) => !this.gone.has(_uuid));
    const row = rows[0] ?? this.#findUnmarked(wanted);
    if (row === undefined || !this.#mustBeReplaced(wanted, row)) return row;
    this.gone.add(row._uuid);
    return undefined;
  }

  /** A row of a table that cannot carry our mark is ours when it has the wanted values in a unique index. */
  #findUnmarked(wanted: AnyDesiredRow): AnyRow | undefined {
    if (isMarked(this.actual.model, wanted.table) || !this.actual.store.hasTable(wanted.table)) return undefined;
    for (const index of identifyingIndexes(this.actual, wanted)) {
      const row = this.actual.findUnique(wanted.table, index, (column) => wanted.columns[column]);
      const key = row === undefined ? undefined : this.actual.adoptions.keyOf(row._uuid);
      if (row !== undefined && (key === undefined || this.desired.row(key)?.table !== wanted.table)) return row;
    }
    return undefined;
  }

  #mustBeReplaced({ table, columns }: AnyDesiredRow, row: AnyRow): boolean {
    return immutableColumns(this.actual.model, table).some((name) => {
      const value = columns[name];
      if (value === undefined || !this.actual.store.supports(table, name)) return false;
      return !isForeignRef(value) && !isRowRef(value) && !sameValue(row[name], value as Value);
    });
  }
}

/** Most tables have none. */
const immutableColumns = perTable((columns) =>
  Object.entries(columns).flatMap(([name, { immutable }]) => (immutable ? [name] : [])),
);

/** The unique indexes of which a desired row gives all columns as plain values. */
export const identifyingIndexes = (actual: ActualRows, { table, columns }: AnyDesiredRow): (readonly string[])[] =>
  (tableModel(actual.model, table)?.indexes ?? []).filter((index) =>
    index.every((column) => {
      const value = columns[column];
      return value !== undefined && typeof value !== 'object';
    }),
  );
