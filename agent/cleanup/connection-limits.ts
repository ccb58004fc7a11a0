/**
 * Takes the limits of connections back before their rows go: ovn-controller removes its rows of CT_Zone with a limit, and leaves those
 * of routers and ports that are gone.
 */
import type { Databases } from '../databases/databases.ts';
import { OWNER_KEY } from '../model/ownership.ts';
import { whenInstalled } from './when-installed.ts';

const LIMITED = [
  ['Logical_Router', 'options'],
  ['Logical_Switch', 'other_config'],
  ['Logical_Switch_Port', 'options'],
] as const;

const LIMIT = 'ct-zone-limit';

/** Waits until ovn-controller has done it; where it does not answer, what it has written stays. */
export const removeConnectionLimits = async (
  { northbound: { replica, session } }: Pick<Databases, 'northbound'>,
  signal: AbortSignal,
): Promise<void> => {
  const operations = LIMITED.flatMap(([table, column]) =>
    [...replica.rows(table)].flatMap((row) => {
      const values: Readonly<Record<string, string>> = 'options' in row ? row.options : row.other_config;
      if (values[LIMIT] === undefined || row.external_ids[OWNER_KEY] === undefined) return [];
      return {
        op: 'mutate' as const,
        table,
        where: [['_uuid', '==', ['uuid', row._uuid]]] as const,
        mutations: [[column, 'delete', ['set', [LIMIT]]]] as const,
      };
    }),
  );
  if (operations.length === 0) return;
  await session.transact(operations, signal);
  // Its rows of CT_Zone are in a transaction of their own with Open vSwitch, which it repeats in its next round when it was refused: on a
  // busy machine more than once. A round without news takes milliseconds.
  for (let round = 0; round < ROUNDS; round++) await whenInstalled(session, INSTALLED_MS, signal);
};

const ROUNDS = 5;
const INSTALLED_MS = 20_000;
