/** Finds what a change of the database may have brought out of order. The cost is that of the change. */
import type { Scalar } from '../codec/value.ts';
import { elementChange, elementsOf } from '../replica/element-change.ts';
import { parentColumns } from '../replica/parents.ts';
import type { AnyRow, RowChange } from '../replica/row.ts';
import { columnModel, type DatabaseModel, tableModel } from '../schema/model.ts';
import type { Uuid } from '../uuid.ts';
import type { DesiredRows } from './desired-rows.ts';
import { strayElements, strayParents, strayReferences } from './garbage.ts';
import { type ElementId, onlyRowId, type TargetId, uuidId } from './identity.ts';
import type { ActualRows } from './plan/actual-rows.ts';
import { uniqueTargets } from './plan/tokens.ts';
import { elementIds, isWantedBy } from './plan/wanted.ts';
import { memberAddress } from './store/member-sets.ts';
import type { Unit } from './unit.ts';

export interface DriftInput {
  readonly desired: DesiredRows;
  readonly actual: ActualRows;
  /** Whether what no owner desires may be removed, too. */
  readonly mayPrune: boolean;
}

export const driftUnits = (input: DriftInput, change: RowChange): Unit[] => {
  const { actual } = input;
  const { table, before, after } = change;
  const oldKey = before === undefined ? undefined : actual.keyOf(table, before);
  const newKey = after === undefined ? undefined : actual.keyOf(table, after);
  return [
    ...(oldKey === newKey && before !== undefined && after !== undefined
      ? modifiedUnits(input, change, newKey)
      : replacedUnits(input, table, oldKey, newKey)),
    ...(newKey !== undefined && newKey !== oldKey && after !== undefined
      ? strayUnits(input, table, newKey, after)
      : []),
    ...(newKey === undefined ? takenUnits(input, change, oldKey !== undefined) : []),
    ...(oldKey !== undefined && oldKey !== newKey && after !== undefined ? lostUnits(input, oldKey, after._uuid) : []),
    ...targetUnits(input, change),
  ];
};

/** A row has lost its key and is still in the sets where the row with the key belongs. */
const lostUnits = ({ desired }: DriftInput, key: string, uuid: Uuid): Unit[] =>
  [...desired.referrers(key)].flatMap((referrer): Unit[] => {
    if ('columns' in referrer) return [{ kind: 'row', table: referrer.table, key: referrer.key }];
    const unit = { kind: 'member', ...memberAddress(referrer) } as const;
    const row = desired.row(unit.target);
    const isExact = row?.table === unit.table && Object.hasOwn(row.columns, unit.column);
    return isExact ? [unit, { ...unit, element: uuidId(uuid) }] : [unit];
  });

/** A row of ours came, went or got another key. */
const replacedUnits = (
  { desired, mayPrune }: DriftInput,
  table: string,
  oldKey: string | undefined,
  newKey: string | undefined,
): Unit[] =>
  [...new Set([oldKey, newKey])].flatMap((key) => {
    if (key === undefined) return [];
    const isDesired = desired.row(key)?.table === table;
    return isDesired || (key === newKey && mayPrune) ? [{ kind: 'row', table, key }] : [];
  });

/** A row that is taken for ours from now on, or desired from now on, may be where it does not belong. */
export const strayUnits = (
  { desired, actual, mayPrune }: DriftInput,
  table: string,
  key: string,
  row: AnyRow,
): Unit[] => {
  const desiredRow = desired.row(key);
  if (!mayPrune || desiredRow?.table !== table) return [];
  return [...strayElements(desired, actual, desiredRow, row), ...strayParents(desired, actual, desiredRow, row)];
};

/**
 * A row without a mark is known to be ours from now on: until then nobody could say whether references to it are strays, nor
 * those in it.
 */
export const adoptionUnits = (input: DriftInput, table: string, key: string): Unit[] => {
  const { desired, actual, mayPrune } = input;
  const desiredRow = desired.row(key);
  if (!mayPrune || desiredRow?.table !== table) return [];
  return actual
    .owned(table, key)
    .flatMap((row) => [...strayReferences(desired, actual, desiredRow, row), ...strayUnits(input, table, key, row)]);
};

/** A row that is not ours keeps rows of ours alive. @param wasOurs all of its elements are to be looked at, not only new ones */
const takenUnits = ({ desired, actual, mayPrune }: DriftInput, change: RowChange, wasOurs: boolean): Unit[] => {
  const { table, uuid, after } = change;
  if (!mayPrune || after === undefined) return [];
  return strongColumns(actual.model, table).flatMap((column) =>
    (wasOurs ? elementsOf(after, column) : elementChange(change, column).added).flatMap((element): Unit[] => {
      const key = actual.keyOfReferred(table, column, element as Uuid);
      if (key === undefined || desired.row(key) === undefined) return [];
      if (isWantedBy(desired, actual, { table, column, row: after }, key)) return [];
      return [{ kind: 'member', table, target: uuidId(uuid), column, element: key }];
    }),
  );
};

/** The columns that keep rows of other than root tables alive. */
const strongColumns = (model: DatabaseModel, table: string): string[] =>
  parentColumns(model).flatMap(({ table: parent, column, child }) =>
    parent === table && !tableModel(model, child)?.isRoot ? [column] : [],
  );

const modifiedUnits = (input: DriftInput, change: RowChange, key: string | undefined): Unit[] => {
  const desiredRow = key === undefined ? undefined : input.desired.row(key);
  if (key === undefined || desiredRow?.table !== change.table) return [];
  return change.columns.flatMap((column): Unit[] => {
    const isGiven = Object.hasOwn(desiredRow.columns, column);
    if (input.desired.members.hasColumn(key, column)) return elementUnits(input, change, key, column, isGiven);
    if (isGiven) return [{ kind: 'row', table: change.table, key }];
    return elementUnits(input, change, key, column, false);
  });
};

/** Rows of whatever owner, to which members and patches are addressed by their values. */
const targetUnits = (input: DriftInput, change: RowChange): Unit[] => {
  const { desired } = input;
  const before = targetsOf(input, change.table, change.before);
  const after = targetsOf(input, change.table, change.after);
  return [...new Set([...before, ...after])].flatMap((target): Unit[] => {
    const patches: Unit[] = desired.hasPatches(target) ? [{ kind: 'patch', table: change.table, target }] : [];
    if (!desired.members.hasTarget(target)) return patches;
    const stayed = before.includes(target) && after.includes(target);
    const columns = [...desired.members.columns(target)];
    return patches.concat(
      columns.flatMap((column) =>
        stayed ? changedUnits(input, change, target, column) : memberUnits(input, target, column),
      ),
    );
  });
};

const changedUnits = (input: DriftInput, change: RowChange, target: string, column: string): Unit[] =>
  change.columns.includes(column) ? elementUnits(input, change, target, column, false) : [];

const memberUnits = ({ desired }: DriftInput, target: string, column: string): Unit[] =>
  Array.from(desired.members.of(target, column), (member): Unit => ({ kind: 'member', ...memberAddress(member) }));

const targetsOf = ({ desired, actual }: DriftInput, table: string, row: AnyRow | undefined): TargetId[] =>
  row === undefined || !desired.hasForeignTargets(table)
    ? []
    : [onlyRowId(table), ...uniqueTargets(actual, table, row)];

/** @param isExact whether elements that no owner desires are to go, whatever they are */
const elementUnits = (
  input: DriftInput,
  change: RowChange,
  target: TargetId,
  column: string,
  isExact: boolean,
): Unit[] => {
  const { table } = change;
  if (columnModel(input.actual.model, table, column)?.kind !== 'set') return [];
  const { added, removed } = elementChange(change, column);
  const unit = (element: ElementId): Unit => ({ kind: 'member', table, target, column, element });
  return [
    ...removed.flatMap((element) => desiredIds(input, table, target, column, element)).map(unit),
    ...added.flatMap((element) => addedIds(input, table, column, element, isExact)).map(unit),
  ];
};

/** The ids, of all that can mean this element, of which the element is desired. */
const desiredIds = (
  input: DriftInput,
  table: string,
  target: TargetId,
  column: string,
  element: Scalar,
): ElementId[] => {
  const { desired } = input;
  const row = desired.row(target);
  const given = row?.table === table ? row.columns[column] : undefined;
  return elementIds(input.actual, table, column, element).filter(
    (id) => Array.isArray(given) || desired.members.get(target, column, id) !== undefined,
  );
};

const addedIds = (input: DriftInput, table: string, column: string, element: Scalar, isExact: boolean): ElementId[] => {
  const base = columnModel(input.actual.model, table, column)?.key;
  if (base?.refTable === undefined) return isExact ? [String(element)] : [];
  const key = input.actual.keyOfReferred(table, column, element as Uuid);
  if (key !== undefined) return isExact || input.mayPrune ? [key] : [];
  return isExact ? [uuidId(String(element))] : [];
};
