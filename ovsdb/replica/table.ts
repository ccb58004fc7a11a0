/** The rows of one table, and how they are read from the wire. */
import { type Decoder, decoderOf } from '../codec/decode.ts';
import { isComposite, modified } from '../codec/difference.ts';
import type { ElementIndex } from '../codec/element-index.ts';
import { sameValue } from '../codec/equal.ts';
import { defaultValue, type Value } from '../codec/value.ts';
import { ProtocolError } from '../errors.ts';
import { columnModel, type DatabaseModel } from '../schema/model.ts';
import { isUuid, type Uuid } from '../uuid.ts';
import { isObject, type JsonObject } from '../wire/notation.ts';
import type { AnyRow, ElementChange, RowChange } from './row.ts';
import type { RowIndex } from './row-index.ts';

interface MirroredColumn {
  readonly decode: Decoder;
  /** By the server's schema: whether a change is sent as a difference. */
  readonly composite: boolean;
}

export class Table {
  readonly name: string;
  /** The columns that are asked for, without `_uuid`. */
  readonly columns: readonly string[];
  readonly indexes: ReadonlyMap<string, RowIndex>;
  readonly rows = new Map<Uuid, AnyRow>();
  readonly #model: DatabaseModel;
  readonly #elements: ElementIndex;
  /** A row of default values: new rows are copies of it, so that all rows of the table have one hidden class. */
  readonly #template: AnyRow;
  #mirrored = new Map<string, MirroredColumn>();

  constructor(options: {
    name: string;
    columns: readonly string[];
    indexes: ReadonlyMap<string, RowIndex>;
    model: DatabaseModel;
    elements: ElementIndex;
  }) {
    this.name = options.name;
    this.columns = options.columns;
    this.indexes = options.indexes;
    this.#model = options.model;
    this.#elements = options.elements;
    this.#template = templateOf(options.model, options.name, options.columns);
  }

  /** From now on the server is one that has these columns. */
  configure(server: DatabaseModel, columns: ReadonlySet<string>): void {
    this.#mirrored = new Map();
    for (const name of columns) {
      const own = columnModel(this.#model, this.name, name);
      const theirs = columnModel(server, this.name, name);
      if (own === undefined || theirs === undefined) continue;
      this.#mirrored.set(name, { decode: decoderOf(own), composite: isComposite(theirs) });
    }
  }

  /** Reads a whole row; columns that are not sent have their default value, columns that nobody asked for are ignored. */
  decode(uuid: Uuid, wire: unknown): AnyRow {
    const row: Record<string, Value> = { ...this.#template, _uuid: uuid };
    const sent = sentColumns(wire);
    for (const name in sent) {
      const column = this.#mirrored.get(name);
      if (column !== undefined) row[name] = column.decode(sent[name]);
    }
    return row as AnyRow;
  }

  /** Stores what `modify` says of a row (ovsdb-server(7), "Update2 Notification"); undefined when nothing is new in it. */
  modify(uuid: Uuid, wire: unknown): RowChange | undefined {
    const before = this.rows.get(uuid);
    if (before === undefined) throw new ProtocolError(`${this.name} ${uuid} is modified before it is there`);
    const row: Record<string, Value> = { ...before };
    const columns: string[] = [];
    let sets: Record<string, ElementChange> | undefined;
    const sent = sentColumns(wire);
    for (const name in sent) {
      const column = this.#mirrored.get(name);
      if (column === undefined) continue;
      const { value, change } = modified(before[name], column.decode(sent[name]), column.composite, this.#elements);
      if (change === undefined ? sameValue(before[name], value) : isEmpty(change)) continue;
      row[name] = value;
      columns.push(name);
      if (change !== undefined) {
        sets ??= {};
        sets[name] = change;
      }
    }
    if (columns.length === 0) return undefined;
    return this.#store({ table: this.name, uuid, before, after: row as AnyRow, columns, ...(sets && { sets }) });
  }

  /** Stores a row as it is now, known before or not; undefined when it is as it was. */
  put(uuid: Uuid, row: AnyRow): RowChange | undefined {
    const before = this.rows.get(uuid);
    if (before === undefined) return this.#store({ table: this.name, uuid, before, after: row, columns: [] });
    const columns = this.columns.filter((name) => !sameValue(before[name], row[name]));
    if (columns.length === 0) return undefined;
    return this.#store({ table: this.name, uuid, before, after: row, columns });
  }

  remove(uuid: Uuid): RowChange | undefined {
    const before = this.rows.get(uuid);
    if (before === undefined) return undefined;
    return this.#store({ table: this.name, uuid, before, after: undefined, columns: [] });
  }

  #store(change: RowChange): RowChange {
    const { uuid, before, after } = change;
    if (after === undefined) this.rows.delete(uuid);
    else this.rows.set(uuid, after);
    for (const index of this.indexes.values()) index.update(uuid, before, after);
    return change;
  }
}

const isEmpty = ({ added, removed }: ElementChange): boolean => added.length + removed.length === 0;

export const uuidOf = (text: string): Uuid => {
  if (isUuid(text)) return text;
  throw new ProtocolError(`"${text}" is not a row's uuid`);
};

const sentColumns = (wire: unknown): JsonObject => {
  if (!isObject(wire)) throw new ProtocolError('a row is not an object');
  return wire;
};

/**
 * An object made by JSON.parse keeps fast properties however many it has, and so do its copies. One that is filled by
 * computed names turns into a hash table at about a dozen: 20 times slower to copy.
 */
const templateOf = (model: DatabaseModel, table: string, columns: readonly string[]): AnyRow => {
  const template = JSON.parse(JSON.stringify(Object.fromEntries(['_uuid', ...columns].map((name) => [name, null]))));
  for (const name of columns) {
    const column = columnModel(model, table, name);
    template[name] = column === undefined ? undefined : defaultValue(column);
  }
  return template;
};
