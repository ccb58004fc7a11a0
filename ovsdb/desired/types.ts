/**
 * What somebody wants to be in a database, as plain data: no I/O and nothing that does any is imported here.
 *
 * Three kinds of wishes, each with an owner:
 * - a **row** that is ours: it carries its key in `external_ids` where its table has them, and is deleted when nobody
 *   wants it any more;
 * - a **member**: one element of a set column of a row, contributed by somebody who need not be the row's owner;
 * - a **patch**: a few values in a row that is not ours.
 */
import type { TableName, Tables } from '../schema/model.ts';
import type { Uuid } from '../uuid.ts';

/** A reference to a desired row by its key, wherever it is: in the database already, or about to be inserted. */
export interface RowRef {
  readonly ref: string;
}

/** A reference to a row that is not ours, by the columns of a unique index of its table. */
export interface ForeignRef {
  readonly table: string;
  readonly at: Readonly<Record<string, string | number>>;
}

export const rowRef = (key: string): RowRef => ({ ref: key });

/** For example `foreignRef('Bridge', { name: 'br-int' })`. */
export const foreignRef = (table: string, at: ForeignRef['at']): ForeignRef => ({ table, at });

export type DesiredElement = string | number | boolean | RowRef | ForeignRef;

export type DesiredValue =
  | DesiredElement
  | undefined
  | readonly DesiredElement[]
  | Readonly<Record<string, DesiredElement | undefined>>;

/** A row's type with references in place of uuids. */
type DesiredOf<Value> = Value extends Uuid
  ? RowRef | ForeignRef
  : Value extends readonly (infer Element)[]
    ? readonly DesiredOf<Element>[]
    : Value extends Readonly<Record<string, infer Mapped>>
      ? Readonly<Record<string, DesiredOf<Mapped> | undefined>>
      : Value;

export type DesiredColumns<Row> = { readonly [Column in Exclude<keyof Row, '_uuid'>]?: DesiredOf<Row[Column]> };

/**
 * A row that is ours. Only the columns that are there are managed; `undefined` means: present and empty.
 *
 * - A map is managed exactly: entries that are not given are removed. To `external_ids` our own entry is added; without
 *   `external_ids` in `columns` that entry is all that is managed of it.
 * - A set is managed exactly: its elements are the given ones and the members. `ports: []` means: the members and
 *   nothing else. Of a set that is *not* given, members are added and references to rows of ours that no owner desires
 *   there are removed, and everything else stays.
 */
export type DesiredRow<DB = Tables, Table extends TableName<DB> = TableName<DB>> = {
  readonly [T in Table]: {
    readonly table: T;
    /** Unique in the database and the same in every run: it is how the row is recognised. */
    readonly key: string;
    readonly columns: DesiredColumns<DB[T]>;
    /** Keys of rows of ours without which it must not come to be: it is inserted, or changed, with them or after them. */
    readonly needs?: readonly string[];
  };
}[Table];

/** The columns of a row that can have several elements. */
type SetColumn<Row> = {
  [Column in keyof Row]-?: Row[Column] extends readonly unknown[] ? Column : never;
}[keyof Row] &
  string;

type ElementOf<Value> = Value extends readonly (infer Element)[] ? DesiredOf<Element> : never;

/**
 * One element of a set column of `row`: a row of ours by its key, or one that is not ours. Any number of owners may
 * contribute the same element; it goes when the last of them withdraws it.
 */
export type Member<DB = Tables, Table extends TableName<DB> = TableName<DB>> = {
  readonly [T in Table]: {
    readonly [Column in SetColumn<DB[T]>]: {
      readonly table: T;
      readonly row: string | ForeignRef;
      readonly column: Column;
      readonly value: ElementOf<DB[T][Column]>;
    };
  }[SetColumn<DB[T]>];
}[Table];

type MapColumn<Row> = {
  [Column in keyof Row]-?: Row[Column] extends Readonly<Record<string, unknown>>
    ? Row[Column] extends string | readonly unknown[]
      ? never
      : Column
    : never;
}[keyof Row] &
  string;

type EntriesOf<Value> =
  Value extends Readonly<Record<string, infer Mapped>> ? Readonly<Record<string, DesiredOf<Mapped> | null>> : never;

/**
 * Values in a row that is not ours and that we do not make: the only row of its table, or the one that `at` identifies by a
 * unique index. `columns` are set to the value. Of the maps in `entries` only the given entries are touched; null means
 * that there must be none of that name. A patch that is withdrawn leaves what it has written.
 */
export type Patch<DB = Tables, Table extends TableName<DB> = TableName<DB>> = {
  readonly [T in Table]: {
    readonly table: T;
    readonly at?: ForeignRef['at'];
    readonly columns?: { readonly [C in Exclude<keyof DB[T], '_uuid' | MapColumn<DB[T]>>]?: DesiredOf<DB[T][C]> };
    readonly entries?: { readonly [C in MapColumn<DB[T]>]?: EntriesOf<DB[T][C]> };
  };
}[Table];

/** A patch of the only row of a table, such as NB_Global or Open_vSwitch. */
export type SingletonPatch<DB = Tables, Table extends TableName<DB> = TableName<DB>> = Patch<DB, Table>;

/** Everything that one owner wants of one database. */
export interface DesiredFragment<DB = Tables> {
  readonly rows?: readonly DesiredRow<DB>[];
  readonly members?: readonly Member<DB>[];
  readonly patches?: readonly Patch<DB>[];
}

/** The same without types, as the store and the planner work with it. */
export interface AnyDesiredRow {
  readonly table: string;
  readonly key: string;
  readonly columns: Readonly<Record<string, DesiredValue>>;
  readonly needs?: readonly string[];
}
export interface AnyMember {
  readonly table: string;
  readonly row: string | ForeignRef;
  readonly column: string;
  readonly value: DesiredElement;
}
export interface AnyPatch {
  readonly table: string;
  readonly at?: ForeignRef['at'];
  readonly columns?: Readonly<Record<string, DesiredValue>>;
  readonly entries?: Readonly<Record<string, Readonly<Record<string, DesiredElement | null>> | undefined>>;
}

export interface AnyFragment {
  readonly rows?: readonly AnyDesiredRow[];
  readonly members?: readonly AnyMember[];
  readonly patches?: readonly AnyPatch[];
}

/** Which of two owners wins: negative for `a`. Total, and zero only for one owner. */
export type OwnerOrder = (a: string, b: string) => number;

/** Code units, as everywhere: no locale decides who wins. */
export const byName: OwnerOrder = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
