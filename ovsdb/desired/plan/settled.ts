/**
 * Finds what is as it is wanted, without planning it: after a start that is nearly everything, and whether it could be
 * written need not be asked. What cannot be said at a glance is planned.
 */
import { isMapValue, type Scalar, type Value } from '../../codec/value.ts';
import { elementsOf } from '../../replica/element-change.ts';
import type { AnyRow } from '../../replica/row.ts';
import type { Base, Column } from '../../schema/column.ts';
import { isForeignRef, isRowRef, type TargetId } from '../identity.ts';
import { memberAddress } from '../store/member-sets.ts';
import type { AnyDesiredRow, AnyMember, DesiredElement, DesiredValue } from '../types.ts';
import type { MemberUnit, Unit } from '../unit.ts';
import { isMarked } from './actual-rows.ts';
import type { Lookup } from './lookup.ts';

/** @param lookup of a plan that has not removed anything yet */
export const isSettled = (lookup: Lookup, unit: Unit): boolean => {
  if (unit.kind === 'row') {
    const wanted = lookup.desired.row(unit.key);
    return wanted?.table === unit.table && isSettledRow(lookup, wanted);
  }
  return unit.kind === 'member' && isSettledMember(lookup, unit);
};

/** Everything that is wanted and not settled. The row that a set is in is looked up once for all of its members. */
export function* unsettledUnits(lookup: Lookup): Iterable<Unit> {
  const { desired } = lookup;
  for (const wanted of desired.rows()) {
    if (!lookup.isSettled(wanted.key) && !isSettledRow(lookup, wanted))
      yield { kind: 'row', table: wanted.table, key: wanted.key };
  }
  for (const { target, column } of desired.members.places()) {
    if (lookup.isSettled(target)) continue;
    for (const member of missingMembers(lookup, target, column)) yield { kind: 'member', ...memberAddress(member) };
  }
  yield* desired.patchUnits();
}

/** A row with all members that are wanted in it. */
export const isSettledWhole = (lookup: Lookup, wanted: AnyDesiredRow): boolean => {
  if (!isSettledRow(lookup, wanted)) return false;
  for (const column of lookup.desired.members.columns(wanted.key))
    for (const _missing of missingMembers(lookup, wanted.key, column)) return false;
  return true;
};

function* missingMembers(lookup: Lookup, target: TargetId, column: string): Iterable<AnyMember> {
  let set: ActualSet | undefined;
  for (const member of lookup.desired.members.of(target, column)) {
    if (set?.table !== member.table) set = actualSet(lookup, member.table, target, column);
    if (!hasElement(lookup, set, member.value)) yield member;
  }
}

const isSettledRow = (lookup: Lookup, wanted: AnyDesiredRow): boolean => {
  const { actual } = lookup;
  const { table, key, columns } = wanted;
  if (!isMarked(actual.model, table) || lookup.usable(table, 'external_ids') === undefined) return false;
  const [row, another] = actual.owned(table, key);
  if (row === undefined || another !== undefined) return false;
  for (const name in columns) {
    const column = lookup.usable(table, name);
    if (column === undefined || !isSettledColumn(lookup, wanted, row, name, column)) return false;
  }
  return true;
};

const isSettledMember = (lookup: Lookup, { table, target, column, element }: MemberUnit): boolean => {
  const member = lookup.desired.members.get(target, column, element);
  return member !== undefined && hasElement(lookup, actualSet(lookup, table, target, column), member.value);
};

/** A set column of a row, as it is. */
interface ActualSet {
  readonly table: string;
  readonly name: string;
  readonly column: Column | undefined;
  readonly row: AnyRow | undefined;
}

const actualSet = (lookup: Lookup, table: string, target: TargetId, name: string): ActualSet => {
  const column = lookup.usable(table, name);
  return { table, name, column, row: column?.kind === 'set' ? lookup.target(table, target) : undefined };
};

const hasElement = (lookup: Lookup, { table, name, column, row }: ActualSet, value: DesiredElement): boolean => {
  if (row === undefined || column === undefined) return false;
  const scalar = scalarOf(lookup, column.key, value);
  return scalar !== undefined && lookup.actual.store.hasElement(table, row._uuid, name, scalar);
};

const isSettledColumn = (lookup: Lookup, wanted: AnyDesiredRow, row: AnyRow, name: string, column: Column): boolean => {
  const value = wanted.columns[name];
  switch (column.kind) {
    case 'set':
      return isSettledSet(lookup, wanted, row, name, column);
    case 'map':
      return isSettledMap(lookup, column, row[name], value, name === 'external_ids' ? wanted.key : undefined);
    default:
      if (value === undefined) return row[name] === undefined;
      return isElement(value) && isThere(scalarOf(lookup, column.key, value), row[name]);
  }
};

const isSettledSet = (lookup: Lookup, wanted: AnyDesiredRow, row: AnyRow, name: string, column: Column): boolean => {
  const value = wanted.columns[name];
  const elements = new Set<Scalar | undefined>();
  for (const element of Array.isArray(value) ? value : []) elements.add(scalarOf(lookup, column.key, element));
  for (const member of lookup.desired.members.of(wanted.key, name)) {
    elements.add(scalarOf(lookup, column.key, member.value));
  }
  const actual = elementsOf(row, name);
  return elements.size === actual.length && actual.every((element) => elements.has(element));
};

/** @param mark the entry that says whose the row is; it counts more than one that is wanted under its name */
const isSettledMap = (
  lookup: Lookup,
  { key, value: base = key }: Column,
  actual: Value,
  wanted: DesiredValue,
  mark: string | undefined,
): boolean => {
  if (!isMapValue(actual) || !isEntries(wanted)) return false;
  const { ownerKey } = lookup.actual;
  let left = Object.keys(actual).length;
  for (const name in wanted) {
    const element = wanted[name];
    if (element === undefined || (mark !== undefined && name === ownerKey)) continue;
    if (!Object.hasOwn(actual, name) || !isThere(scalarOf(lookup, base, element), actual[name])) return false;
    left--;
  }
  if (mark === undefined) return left === 0;
  return left === 1 && Object.hasOwn(actual, ownerKey) && actual[ownerKey] === mark;
};

const isElement = (value: DesiredValue): value is DesiredElement =>
  value !== undefined && (typeof value !== 'object' || isRowRef(value) || isForeignRef(value));

const isEntries = (value: DesiredValue): value is Readonly<Record<string, DesiredElement | undefined>> =>
  typeof value === 'object' && !isElement(value) && !Array.isArray(value);

const isThere = (wanted: Scalar | undefined, actual: Value): boolean => wanted !== undefined && wanted === actual;

/** As it is in the replica; undefined for a reference to what is not there. */
const scalarOf = (lookup: Lookup, { refTable = '' }: Base, value: DesiredElement): Scalar | undefined => {
  if (typeof value !== 'object') return value;
  return (isRowRef(value) ? lookup.owned(refTable, value.ref) : lookup.foreign(value))?._uuid;
};
