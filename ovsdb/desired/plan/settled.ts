/**
 * Finds what is as it is wanted, without planning it: after a start that is nearly everything, and whether it could be
 * written need not be asked. What cannot be said at a glance is planned.
 */
import { isMapValue, type Scalar, type Value } from '../../codec/value.ts';
import { elementsOf } from '../../replica/element-change.ts';
import type { AnyRow } from '../../replica/row.ts';
import type { Base, Column } from '../../schema/column.ts';
import { columnModel } from '../../schema/model.ts';
import { isForeignRef, isRowRef } from '../identity.ts';
import type { AnyDesiredRow, DesiredElement, DesiredValue } from '../types.ts';
import type { MemberUnit, RowUnit, Unit } from '../unit.ts';
import { isMarked } from './actual-rows.ts';
import type { Lookup } from './lookup.ts';

/** @param lookup of a plan that has not removed anything yet */
export const isSettled = (lookup: Lookup, unit: Unit): boolean => {
  if (unit.kind === 'row') return isSettledRow(lookup, unit);
  return unit.kind === 'member' && isSettledMember(lookup, unit);
};

const isSettledRow = (lookup: Lookup, { table, key }: RowUnit): boolean => {
  const { desired, actual } = lookup;
  const { store } = actual;
  const wanted = desired.row(key);
  if (wanted?.table !== table || !isMarked(actual.model, table) || !store.supports(table, 'external_ids')) return false;
  const [row, another] = actual.owned(table, key);
  if (row === undefined || another !== undefined) return false;
  for (const name in wanted.columns) {
    const column = usableColumn(lookup, table, name);
    if (column === undefined || !isSettledColumn(lookup, wanted, row, name, column)) return false;
  }
  return true;
};

const isSettledMember = (lookup: Lookup, { table, target, column: name, element }: MemberUnit): boolean => {
  const { desired, actual } = lookup;
  const member = desired.members.get(target, name, element);
  const column = usableColumn(lookup, table, name);
  if (member === undefined || column?.kind !== 'set') return false;
  const row = lookup.target(table, target);
  const scalar = scalarOf(lookup, column.key, member.value);
  return row !== undefined && scalar !== undefined && actual.store.hasElement(table, row._uuid, name, scalar);
};

/** Undefined for one that cannot be compared or written. */
const usableColumn = ({ actual: { model, store } }: Lookup, table: string, name: string): Column | undefined =>
  store.hasColumn(table, name) && store.supports(table, name) ? columnModel(model, table, name) : undefined;

const isSettledColumn = (lookup: Lookup, wanted: AnyDesiredRow, row: AnyRow, name: string, column: Column): boolean => {
  const value = wanted.columns[name];
  switch (column.kind) {
    case 'set':
      return isSettledSet(lookup, wanted, row, name, column);
    case 'map': {
      const mark = name === 'external_ids' ? { [lookup.actual.ownerKey]: wanted.key } : NO_MARK;
      return isSettledMap(lookup, column, row[name], value, mark);
    }
    default:
      if (value === undefined) return row[name] === undefined;
      return isElement(value) && isThere(scalarOf(lookup, column.key, value), row[name]);
  }
};

const NO_MARK: Readonly<Record<string, string>> = {};

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

const isSettledMap = (
  lookup: Lookup,
  { key, value: base = key }: Column,
  actual: Value,
  wanted: DesiredValue,
  mark: Readonly<Record<string, string>>,
): boolean => {
  if (!isMapValue(actual) || !isEntries(wanted)) return false;
  let left = Object.keys(actual).length;
  for (const name in wanted) {
    const element = wanted[name];
    if (element === undefined || Object.hasOwn(mark, name)) continue;
    if (!Object.hasOwn(actual, name) || !isThere(scalarOf(lookup, base, element), actual[name])) return false;
    left--;
  }
  for (const name in mark) {
    if (!Object.hasOwn(actual, name) || actual[name] !== mark[name]) return false;
    left--;
  }
  return left === 0;
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
