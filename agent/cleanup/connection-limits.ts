/**
 * Takes the limits of connections back. Those of agents since ADR 138 are marked. Those of older ones ovn-controller has made, which removes
 * its rows of CT_Zone with the limit in the northbound database, and leaves those of routers and ports that are gone: so that is taken
 * back before.
 */
import type { OvsdbSession, WireMap, WireValue } from '../../ovsdb/index.ts';
import type { WireRow } from '../../ovsdb/wire/notation.ts';
import { ZONE_KEY } from '../connections/zone-plan.ts';
import type { Databases } from '../databases/databases.ts';
import { OWNER_KEY } from '../model/ownership.ts';
import { whenInstalled } from './when-installed.ts';

const LIMITED = [
  ['Logical_Router', 'options'],
  ['Logical_Switch', 'other_config'],
  ['Logical_Switch_Port', 'options'],
] as const;

const LIMIT = 'ct-zone-limit';

/**
 * Waits until ovn-controller has done it; where it does not answer, what it has written stays.
 * @returns the limits that only rows of ours had, connections of a zone
 */
export const removeConnectionLimits = async (
  { northbound: { replica, session } }: Pick<Databases, 'northbound'>,
  signal: AbortSignal,
): Promise<ReadonlySet<number>> => {
  await replica.whenSynced(signal);
  const limits = new Set<number>();
  const foreign = new Set<number>();
  const operations = LIMITED.flatMap(([table, column]) =>
    [...replica.rows(table)].flatMap((row) => {
      const values: Readonly<Record<string, string>> = 'options' in row ? row.options : row.other_config;
      if (values[LIMIT] === undefined) return [];
      const ours = row.external_ids[OWNER_KEY] !== undefined;
      (ours ? limits : foreign).add(Number(values[LIMIT]));
      if (!ours) return [];
      return {
        op: 'mutate' as const,
        table,
        where: [['_uuid', '==', ['uuid', row._uuid]]] as const,
        mutations: [[column, 'delete', ['set', [LIMIT]]]] as const,
      };
    }),
  );
  const own = limits.difference(foreign);
  if (operations.length === 0) return own;
  await session.transact(operations, signal);
  // Its rows of CT_Zone are in a transaction of their own with Open vSwitch, which it repeats in its next round when it was refused: on a
  // busy machine more than once. A round without news takes milliseconds.
  for (let round = 0; round < ROUNDS; round++) await whenInstalled(session, INSTALLED_MS, signal);
  return own;
};

const ROUNDS = 5;
const INSTALLED_MS = 20_000;

/**
 * Removes the rows of CT_Zone that are ours, and those that ovn-controller has left: on a busy machine it forgets zones whose ports go
 * meanwhile, and writes the limit that it took back as 2^32 - 1. Call it when no northbound row has a limit of ours any more. Nothing else says whose a row is.
 */
export const removeLeftLimits = async (
  session: Pick<OvsdbSession, 'transact'>,
  limits: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<void> => {
  const found = await session.transact(
    [
      { op: 'select', table: 'Datapath', where: [], columns: ['_uuid', 'ct_zones'] },
      { op: 'select', table: 'CT_Zone', where: [], columns: ['_uuid', 'limit', 'external_ids'] },
    ],
    signal,
  );
  const [datapaths, zones = []] = found.map((result) => result?.rows ?? []);
  const forgotten = limits.size === 0 ? limits : new Set([...limits, TAKEN_BACK]);
  const isLeft = ({ limit, external_ids: ids }: WireRow): boolean =>
    forgotten.has(Number(limit)) || pairsOf(ids).some(([key]) => key === ZONE_KEY);
  const left = new Set(zones.filter(isLeft).map(({ _uuid }) => String(_uuid)));
  const operations = (datapaths ?? []).map(({ _uuid = '', ct_zones }) => ({
    op: 'mutate' as const,
    table: 'Datapath',
    where: [['_uuid', '==', _uuid]] as const,
    mutations: [['ct_zones', 'delete', ['map', pairsOf(ct_zones).filter(([, row]) => left.has(String(row)))]]] as const,
  }));
  if (left.size > 0) await session.transact(operations, signal);
};

const TAKEN_BACK = 2 ** 32 - 1;

const pairsOf = (map: WireValue | undefined): WireMap[1] =>
  Array.isArray(map) && map[0] === 'map' ? (map as WireMap)[1] : [];
