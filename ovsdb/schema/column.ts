/** What a column holds (RFC 7047 §3.2 `<column-schema>`), reduced to what a client decides by. */

export type AtomType = 'string' | 'integer' | 'real' | 'boolean' | 'uuid';

/** One side of a column's type: its elements, a map's keys, or a map's values. */
export interface Base {
  readonly type: AtomType;
  /** Only for `uuid`: the table whose rows are referred to. */
  readonly refTable?: string;
  /** Only with `refTable`: the reference keeps nothing alive and vanishes with its row. */
  readonly weak?: true;
  readonly enum?: readonly (string | number | boolean)[];
  /** Only for `string`, in characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
}

/**
 * `scalar` is exactly one element, `optional` at most one, `set` any number from `min` to `max`, `map` pairs.
 * `max` is Infinity where the schema says "unlimited".
 */
export interface Column {
  readonly kind: 'scalar' | 'optional' | 'set' | 'map';
  readonly key: Base;
  /** Only for `map`. */
  readonly value?: Base;
  readonly min: number;
  readonly max: number;
  /** Its value is lost when the server restarts. */
  readonly ephemeral?: true;
  /** It can be given when the row is inserted and never be changed. */
  readonly immutable?: true;
}

type Flags = Pick<Column, 'ephemeral' | 'immutable'>;
type Limits = Flags & { readonly min?: number; readonly max?: number };

/** A strong reference to rows of `table`: they cannot be deleted while it lasts. */
export const ref = (table: string): Base => ({ type: 'uuid', refTable: table });

export const weakRef = (table: string): Base => ({ type: 'uuid', refTable: table, weak: true });

export const scalar = (key: AtomType | Base, flags?: Flags): Column => ({
  kind: 'scalar',
  key: base(key),
  min: 1,
  max: 1,
  ...flags,
});

export const optional = (key: AtomType | Base, flags?: Flags): Column => ({
  kind: 'optional',
  key: base(key),
  min: 0,
  max: 1,
  ...flags,
});

export const set = (key: AtomType | Base, limits?: Limits): Column => ({
  kind: 'set',
  key: base(key),
  min: 0,
  max: Number.POSITIVE_INFINITY,
  ...limits,
});

export const map = (key: AtomType | Base, value: AtomType | Base, limits?: Limits): Column => ({
  kind: 'map',
  key: base(key),
  value: base(value),
  min: 0,
  max: Number.POSITIVE_INFINITY,
  ...limits,
});

const base = (type: AtomType | Base): Base => (typeof type === 'string' ? ATOMS[type] : type);

const ATOMS: Readonly<Record<AtomType, Base>> = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  real: { type: 'real' },
  boolean: { type: 'boolean' },
  uuid: { type: 'uuid' },
};
