/** Plans the patches of one row that is not ours. */
import type { AnyRow } from '../../replica/row.ts';
import type { Column } from '../../schema/column.ts';
import { columnModel } from '../../schema/model.ts';
import { describeTarget, isForeignRef, isRowRef } from '../identity.ts';
import type { AnyPatch, DesiredElement, DesiredValue } from '../types.ts';
import type { PatchUnit } from '../unit.ts';
import { planEntries, planScalar, planSet } from './columns.ts';
import type { PlanContext } from './context.ts';
import { type Element, resolveElement } from './element.ts';
import { type Held, PLANNED, SATISFIED, type UnitOutcome } from './outcome.ts';
import type { RowPlanner } from './row-planner.ts';
import { targetToken } from './tokens.ts';
import { columnProblem } from './validity.ts';

export const planPatches = (context: PlanContext, rows: RowPlanner, unit: PatchUnit): UnitOutcome => {
  const { desired, actual, lookup, ownersOf } = context;
  const patches = desired.patches(unit.target);
  if (patches.length === 0) return SATISFIED;
  if (actual.store.hasTable(unit.table) && !actual.store.supports(unit.table)) return SATISFIED;
  const row = lookup.target(unit.table, unit.target);
  if (row === undefined) return missing(unit);
  const problem = patchProblem(context, unit, patches);
  if (problem !== undefined) return problem;
  const address = { table: unit.table, uuid: row._uuid, owners: ownersOf(unit) };
  let differs = false;
  for (const [name, value] of merged(patches, ({ columns }) => columns)) {
    const at = supported(context, unit, row, name);
    if (at !== undefined && planColumn(context, rows, address, name, at, value)) differs = true;
  }
  for (const [name, entries] of mergedEntries(patches)) {
    const at = supported(context, unit, row, name);
    if (at === undefined) continue;
    const elements = new Map([...entries].map(([key, value]) => [key, resolve(context, rows, at.column, value)]));
    if (planEntries(context.pending, address, name, at, elements)) differs = true;
  }
  return differs ? PLANNED : SATISFIED;
};

interface Place {
  readonly row: AnyRow;
  readonly column: Column;
}

const supported = ({ actual }: PlanContext, { table }: PatchUnit, row: AnyRow, name: string): Place | undefined => {
  const column = columnModel(actual.model, table, name);
  return column === undefined || !actual.store.supports(table, name) ? undefined : { row, column };
};

const planColumn = (
  context: PlanContext,
  rows: RowPlanner,
  address: Parameters<typeof planScalar>[1],
  name: string,
  at: Place,
  value: DesiredValue,
): boolean => {
  if (at.column.kind === 'set') {
    const elements: readonly DesiredElement[] = Array.isArray(value) ? value : [];
    const wanted = elements.flatMap((element) => resolve(context, rows, at.column, element) ?? []);
    return planSet(context.pending, address, name, at, wanted);
  }
  const isElement = typeof value !== 'object' || isRowRef(value) || isForeignRef(value);
  const wanted = isElement && value !== undefined ? resolve(context, rows, at.column, value) : undefined;
  return planScalar(context.pending, address, name, at.row[name], wanted);
};

const resolve = (
  context: PlanContext,
  rows: RowPlanner,
  { key, value: mapped }: Column,
  element: DesiredElement | null,
): Element | undefined => (element === null ? undefined : resolveElement(context, mapped ?? key, element, rows.insert));

/** Of several patches of one column the first counts. */
const merged = <T>(
  patches: readonly AnyPatch[],
  part: (patch: AnyPatch) => Readonly<Record<string, T>> | undefined,
): Map<string, T> => {
  const result = new Map<string, T>();
  for (const patch of patches) {
    for (const [name, value] of Object.entries(part(patch) ?? {})) if (!result.has(name)) result.set(name, value);
  }
  return result;
};

const mergedEntries = (patches: readonly AnyPatch[]): Map<string, Map<string, DesiredElement | null>> => {
  const names = new Set(patches.flatMap(({ entries }) => Object.keys(entries ?? {})));
  return new Map([...names].map((name) => [name, merged(patches, ({ entries }) => entries?.[name])]));
};

const patchProblem = (
  { actual }: PlanContext,
  { table, target }: PatchUnit,
  patches: readonly AnyPatch[],
): Held | undefined => {
  for (const { columns, entries } of patches) {
    const values = [
      ...Object.entries(columns ?? {}),
      ...Object.entries(entries ?? {}).map(([name, entry]) => [name, withoutNull(entry ?? {})] as const),
    ];
    for (const [name, value] of values) {
      const message = columnProblem(actual, table, name, value);
      if (message !== undefined) {
        return {
          kind: 'held',
          code: 'ERR_OVSDB_INVALID',
          message: `patch of ${describeTarget(target)}: ${message}`,
          tokens: [],
        };
      }
    }
  }
  return undefined;
};

const withoutNull = (entries: Readonly<Record<string, DesiredElement | null>>): Record<string, DesiredElement> =>
  Object.fromEntries(Object.entries(entries).filter((entry): entry is [string, DesiredElement] => entry[1] !== null));

const missing = ({ target }: PatchUnit): Held => ({
  kind: 'held',
  code: 'ERR_OVSDB_UNRESOLVED',
  message: `${describeTarget(target)} does not exist and cannot be patched`,
  tokens: [targetToken(target)],
});
