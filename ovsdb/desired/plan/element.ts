import { encodeAtom } from '../../codec/encode.ts';
import type { Scalar } from '../../codec/value.ts';
import type { Base } from '../../schema/column.ts';
import type { Uuid } from '../../uuid.ts';
import type { WireAtom } from '../../wire/notation.ts';
import { isForeignRef, isRowRef } from '../identity.ts';
import type { DesiredElement } from '../types.ts';
import type { PlanContext } from './context.ts';

/** A wanted element, ready to be compared and written. */
export interface Element {
  readonly atom: WireAtom;
  /** How it is in the replica; undefined for a reference to a row that this plan inserts. */
  readonly scalar: Scalar | undefined;
}

/** Gives the uuid-name of a row that this plan inserts. */
export type InsertRow = (key: string) => string;

/** Undefined for a reference to a row that is not there and cannot be inserted now. */
export const resolveElement = (
  { lookup, feasible, desired }: PlanContext,
  base: Base,
  value: DesiredElement,
  insertRow: InsertRow,
): Element | undefined => {
  if (isForeignRef(value)) return rowElement(lookup.foreign(value)?._uuid);
  if (!isRowRef(value)) return { atom: encodeAtom(base, value), scalar: value };
  const table = base.refTable ?? '';
  const row = lookup.owned(table, value.ref);
  if (row !== undefined) return rowElement(row._uuid);
  if (desired.row(value.ref)?.table !== table || !feasible.isInsertable(value.ref)) return undefined;
  return { atom: ['named-uuid', insertRow(value.ref)], scalar: undefined };
};

const rowElement = (uuid: Uuid | undefined): Element | undefined =>
  uuid === undefined ? undefined : { atom: ['uuid', uuid], scalar: uuid };
