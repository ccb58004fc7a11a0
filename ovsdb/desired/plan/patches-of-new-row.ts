/**
 * What patches want of a row that is about to be inserted. Waiting until it is there would cost another transaction, and
 * who reads the database would see it half done: ovs-vswitchd looks at all of its ports again for each.
 */
import { columnModel } from '../../schema/model.ts';
import { foreignId } from '../identity.ts';
import type { AnyDesiredRow, DesiredElement } from '../types.ts';
import type { PlanContext } from './context.ts';
import { identifyingIndexes } from './lookup.ts';
import { columnProblem } from './validity.ts';

type Entries = Readonly<Record<string, DesiredElement>>;

/** Entries of map columns, by column. Of several patches of one entry the first counts, and what the row says of it most. */
export const patchesOfNewRow = (
  { desired, actual }: PlanContext,
  wanted: AnyDesiredRow,
): ReadonlyMap<string, Entries> => {
  const result = new Map<string, Entries>();
  for (const index of identifyingIndexes(actual, wanted)) {
    const at = Object.fromEntries(index.map((column) => [column, String(wanted.columns[column])]));
    for (const { entries = {} } of desired.patches(foreignId({ table: wanted.table, at }))) {
      for (const [name, changes] of Object.entries(entries)) {
        const added = addedEntries(changes);
        if (columnModel(actual.model, wanted.table, name)?.kind !== 'map') continue;
        if (columnProblem(actual, wanted.table, name, added) === undefined)
          result.set(name, { ...added, ...result.get(name) });
      }
    }
  }
  return result;
};

/** Entries that are to be absent are, and references wait for the patch itself. */
const addedEntries = (changes: Readonly<Record<string, DesiredElement | null>> | undefined): Entries =>
  Object.fromEntries(
    Object.entries(changes ?? {}).filter(
      (entry): entry is [string, DesiredElement] => entry[1] !== null && typeof entry[1] !== 'object',
    ),
  );
