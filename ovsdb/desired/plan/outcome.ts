/** What planning says of a unit. */
export type UnitOutcome =
  /** The database is as it is wanted. */
  | { readonly kind: 'satisfied' }
  /** Operations of this plan put it right. */
  | { readonly kind: 'planned' }
  | Held;

/** Nothing can be done now. */
export interface Held {
  readonly kind: 'held';
  readonly code: HeldCode;
  /** A sentence for people. */
  readonly message: string;
  /** Texts that stand for what has to change first: see `tokens.ts`. Empty: the wish itself has to change. */
  readonly tokens: readonly string[];
}

export type HeldCode =
  /** It refers to a row that is not there, or nothing that could keep it alive is. */
  | 'ERR_OVSDB_UNRESOLVED'
  /** A row that is not to be touched has the same value in a unique index. */
  | 'ERR_OVSDB_CONFLICT'
  /** A value does not fit its column, or the table or column is not replicated. */
  | 'ERR_OVSDB_INVALID'
  /** Somebody else changes it again and again: it is left alone for a while. */
  | 'ERR_OVSDB_UNSETTLED';

/** Held units that wait for something to appear are on their way; others need somebody to do something. */
export const isProblem = ({ code }: Held): boolean => code !== 'ERR_OVSDB_UNRESOLVED';

export const SATISFIED: UnitOutcome = { kind: 'satisfied' };
export const PLANNED: UnitOutcome = { kind: 'planned' };
