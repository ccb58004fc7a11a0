/** Writes `ovn-bridge-mappings` so that what somebody else writes at the same time is not lost. Pure. */
import type { Operation } from '../../../ovsdb/transact/operation.ts';
import { mergeMappings } from './bridge-mappings.ts';

const KEY = 'ovn-bridge-mappings';

/**
 * None: it is as it should be. An entry that has changed since it was read stays as it is: an event follows.
 * @param bridge undefined: none of ours
 */
export const mappingOperations = (
  externalIds: Readonly<Record<string, string>>,
  bridge: string | undefined,
): readonly Operation[] => {
  const current = externalIds[KEY];
  const desired = mergeMappings(current, bridge);
  if (current === desired) return [];
  const change = (mutator: 'insert' | 'delete', value: string): Operation => ({
    op: 'mutate',
    table: 'Open_vSwitch',
    where: [],
    mutations: [['external_ids', mutator, ['map', [[KEY, value]]]]],
  });
  return [
    // Deleting an entry with its value does nothing when it has another one, and inserting does not overwrite it then.
    ...(current === undefined ? [] : [change('delete', current)]),
    ...(desired === undefined ? [] : [change('insert', desired)]),
  ];
};
