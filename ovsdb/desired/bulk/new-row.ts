/** Desired rows as the text of inserts, each with a uuid chosen here, so that others refer to it before it is there. */
import { atomText, entryText, mapText, setText, uuidText } from '../../codec/text.ts';
import { isMapValue } from '../../codec/value.ts';
import { SchemaError } from '../../errors.ts';
import type { Base, Column } from '../../schema/column.ts';
import { columnModel, tableModel } from '../../schema/model.ts';
import { type Uuid, UuidSequence } from '../../uuid.ts';
import type { WireRow } from '../../wire/notation.ts';
import type { DesiredRows } from '../desired-rows.ts';
import { foreignId, isForeignRef, isRowRef } from '../identity.ts';
import { type ActualRows, canHaveMark, isMarked } from '../plan/actual-rows.ts';
import { identifyingIndexes } from '../plan/lookup.ts';
import { columnProblem } from '../plan/validity.ts';
import type { AnyDesiredRow, DesiredElement } from '../types.ts';
import { contestedKeys } from './contested.ts';

export interface NewRow {
  readonly uuid: Uuid;
  readonly table: string;
  readonly key: string;
  readonly isRoot: boolean;
  /** Of a row that carries no mark: its plain values. */
  readonly recognisedBy: WireRow | undefined;
  /** `"column":value` of the columns without members. */
  readonly columns: string[];
  /** Column with members → its elements as text. */
  readonly sets: Map<string, string[]>;
  /** The rows that its columns refer to. */
  readonly references: NewRow[];
  /** It is not written after all; a row that refers to it may have been taken for one that can be. */
  isLeft: boolean;
}

/** What there is to know of a table, asked for with every row. */
interface NewTable {
  readonly isRoot: boolean;
  readonly isMarked: boolean;
  readonly isWritable: boolean;
  /** Those that have been asked for; undefined: the server lacks it. */
  readonly columns: Map<string, Column | undefined>;
}

/** Why a row is left to the ordinary path; it is not told to anybody. */
class Left extends Error {}

/** Finds out which desired rows can be inserted without looking at anything that is there. */
export class NewRows {
  readonly #desired: DesiredRows;
  readonly #actual: ActualRows;
  readonly #contested: ReadonlySet<string>;
  readonly #mark: string;
  /** Null: it is left to the ordinary path. */
  readonly #rows = new Map<string, NewRow | null>();
  readonly #tables = new Map<string, NewTable>();
  readonly #uuids = new UuidSequence();

  constructor(desired: DesiredRows, actual: ActualRows) {
    this.#desired = desired;
    this.#actual = actual;
    this.#contested = contestedKeys(desired, actual);
    this.#mark = JSON.stringify(actual.ownerKey);
  }

  /** Undefined for a row that is left to the ordinary path, for whatever reason. */
  get(table: string, key: string): NewRow | undefined {
    const row = this.#rows.get(key) ?? this.#add(key);
    return row?.table === table ? row : undefined;
  }

  /**
   * The text of an element of a column, and the row that it refers to.
   * @throws Left, SchemaError when it cannot be written
   */
  element(base: Base, value: DesiredElement): { readonly text: string; readonly row?: NewRow } {
    if (isForeignRef(value)) throw new Left();
    if (!isRowRef(value)) return { text: atomText(base, value) };
    const row = this.get(base.refTable ?? '', value.ref);
    if (row === undefined) throw new Left();
    return { text: uuidText(row.uuid), row };
  }

  #add(key: string): NewRow | null {
    if (this.#rows.has(key)) return null;
    this.#rows.set(key, null);
    const wanted = this.#desired.row(key);
    if (wanted === undefined || this.#contested.has(key) || !this.#isRecognisable(wanted)) return null;
    const { isRoot, isMarked: hasMark } = this.#table(wanted.table);
    const row: NewRow = {
      uuid: this.#uuids.next(),
      table: wanted.table,
      key,
      isRoot,
      recognisedBy: hasMark ? undefined : plainValues(wanted),
      columns: [],
      sets: new Map(),
      references: [],
      isLeft: false,
    };
    // Not later: rows may refer to each other.
    this.#rows.set(key, row);
    if (attempt(() => this.#fill(row, wanted))) return row;
    row.isLeft = true;
    this.#rows.set(key, null);
    return null;
  }

  /** As the ordinary path has it (`invalidity`), and without patches, which belong into the insert. */
  #isRecognisable(wanted: AnyDesiredRow): boolean {
    const { table, columns } = wanted;
    const { isWritable, isMarked: hasMark } = this.#table(table);
    if (!isWritable) return false;
    if (!hasMark && identifyingIndexes(this.#actual, wanted).length === 0) return false;
    if (!this.#desired.hasForeignTargets(table)) return true;
    return identifyingIndexes(this.#actual, wanted).every((index) => {
      const at = Object.fromEntries(index.map((column) => [column, String(columns[column])]));
      return !this.#desired.hasPatches(foreignId({ table, at }));
    });
  }

  #table(name: string): NewTable {
    const known = this.#tables.get(name);
    if (known !== undefined) return known;
    const { store, model } = this.#actual;
    const hasMark = isMarked(model, name);
    const table: NewTable = {
      isRoot: tableModel(model, name)?.isRoot ?? true,
      isMarked: hasMark,
      isWritable:
        store.hasTable(name) &&
        store.supports(name) &&
        (!hasMark || (canHaveMark(store, name) && store.supports(name, 'external_ids'))),
      columns: new Map(),
    };
    this.#tables.set(name, table);
    return table;
  }

  /** Undefined for one that the server lacks. @throws Left for one that is not replicated */
  #column(table: string, name: string): Column | undefined {
    const { columns } = this.#table(table);
    if (columns.has(name)) return columns.get(name);
    const { store, model } = this.#actual;
    const column = columnModel(model, table, name);
    if (column === undefined || !store.hasColumn(table, name)) throw new Left();
    const usable = store.supports(table, name) ? column : undefined;
    columns.set(name, usable);
    return usable;
  }

  /** @throws Left, SchemaError */
  #fill(row: NewRow, { table, key, columns, needs = [] }: AnyDesiredRow): void {
    for (const needed of needs) row.references.push(this.#needed(needed));
    for (const name in columns) {
      const column = this.#column(table, name);
      if (column !== undefined) this.#fillColumn(row, name, column, columns[name]);
      else if (columnProblem(this.#actual, table, name, columns[name]) !== undefined) throw new Left();
    }
    if (row.recognisedBy === undefined && !Object.hasOwn(columns, 'external_ids')) {
      row.columns.push(`"external_ids":${mapText([this.#markOf(key)])}`);
    }
  }

  /** @throws Left without a row of a root table, which comes with whoever needs it */
  #needed(key: string): NewRow {
    const row = this.get(this.#desired.row(key)?.table ?? '', key);
    if (row === undefined || !row.isRoot) throw new Left();
    return row;
  }

  #markOf(key: string): string {
    return `[${this.#mark},${JSON.stringify(key)}]`;
  }

  #fillColumn(row: NewRow, name: string, column: Column, value: unknown): void {
    switch (column.kind) {
      case 'set': {
        const elements = this.#setElements(row, column, value);
        if (column.min > 0 && elements.length === 0) throw new Left();
        if (this.#desired.members.hasColumn(row.key, name)) row.sets.set(name, elements);
        else if (elements.length > 0) row.columns.push(`"${name}":${setText(elements)}`);
        return;
      }
      case 'map': {
        const entries = this.#mapEntries(row, name, column, value);
        if (entries.length > 0) row.columns.push(`"${name}":${mapText(entries)}`);
        return;
      }
      case 'optional':
        if (value === undefined) return;
    }
    row.columns.push(`"${name}":${this.#referring(row, column.key, value as DesiredElement)}`);
  }

  #setElements(row: NewRow, { key: base }: Column, value: unknown): string[] {
    if (!Array.isArray(value)) throw new Left();
    return value.map((element: DesiredElement) => this.#referring(row, base, element));
  }

  #mapEntries(row: NewRow, name: string, column: Column, value: unknown): string[] {
    if (!isMapValue(value)) throw new Left();
    const mark = name === 'external_ids' && row.recognisedBy === undefined ? this.#actual.ownerKey : undefined;
    const entries = mark === undefined ? [] : [this.#markOf(row.key)];
    for (const entry in value) {
      const element: DesiredElement | undefined = value[entry];
      if (element === undefined || entry === mark) continue;
      entries.push(entryText(column, entry, this.#referring(row, column.value ?? column.key, element)));
    }
    return entries;
  }

  #referring(row: NewRow, base: Base, value: DesiredElement): string {
    const element = this.element(base, value);
    if (element.row === undefined) return element.text;
    // It keeps nothing alive, and what keeps the row alive may come later.
    if (base.weak && !element.row.isRoot) throw new Left();
    row.references.push(element.row);
    return element.text;
  }
}

const plainValues = ({ columns }: AnyDesiredRow): WireRow =>
  Object.fromEntries(
    Object.entries(columns).filter(
      (entry): entry is [string, string | number | boolean] => typeof entry[1] !== 'object',
    ),
  );

/** False when it cannot be written. @throws what is thrown for any other reason */
export const attempt = (write: () => void): boolean => {
  try {
    write();
    return true;
  } catch (error) {
    if (error instanceof Left || error instanceof SchemaError) return false;
    throw error;
  }
};
