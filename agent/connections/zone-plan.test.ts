import { expect, it } from 'vitest';
import type { Uuid } from '../../ovsdb/uuid.ts';
import {
  type LimitedZone,
  type WantedLimit,
  ZONE_KEY,
  type ZonesHere,
  zoneChanges,
  zoneOperations,
} from './zone-plan.ts';

const uuid = (digit: number): Uuid => `00000000-0000-4000-8000-00000000000${digit}` as Uuid;
const LIMITS: Readonly<Record<string, WantedLimit>> = { red_a: 1024, GR_red_snat: 16_384, plain: 'none' };
const NAMES = new Map([
  [3, 'red_a'],
  [4, 'GR_red_snat'],
  [5, 'somebody'],
  [6, 'plain'],
]);

const here = (rows: readonly (readonly [number, LimitedZone])[] = []): ZonesHere => ({
  names: NAMES,
  limitOf: (name) => LIMITS[name] ?? 'unknown',
  rows: new Map(rows),
});
const ours = (zone: number, limit: number, writtenFor = NAMES.get(zone) ?? 'gone') =>
  [zone, { uuid: uuid(zone), limit, writtenFor }] as const;
const foreign = (zone: number, limit: number) => [zone, { uuid: uuid(zone), limit, writtenFor: undefined }] as const;
const RIGHT = [ours(3, 1024), ours(4, 16_384)];

it('makes a row for each zone that has none, in the transaction that puts it into the map', () => {
  const values = (limit: number, name: string) => ({ limit, external_ids: ['map', [[ZONE_KEY, name]]] });
  const added = [3, 4].map((zone) => [zone, ['named-uuid', `zone_${zone}`]]);
  expect(zoneOperations(uuid(0), zoneChanges(here()))).toEqual([
    { op: 'insert', table: 'CT_Zone', 'uuid-name': 'zone_3', row: values(1024, 'red_a') },
    { op: 'insert', table: 'CT_Zone', 'uuid-name': 'zone_4', row: values(16_384, 'GR_red_snat') },
    {
      ...{ op: 'mutate', table: 'Datapath', where: [['_uuid', '==', ['uuid', uuid(0)]]] },
      mutations: [['ct_zones', 'insert', ['map', added]]],
    },
  ]);
});

it('writes nothing when all is as it should be, and nothing of rows that others have made for other zones', () => {
  expect(zoneChanges(here([...RIGHT, foreign(5, 7), foreign(6, 7), foreign(9, 7)]))).toEqual([]);
});

it('changes a limit in its row, and takes over what ovn-controller has left, with what else is noted there', () => {
  const changes = zoneChanges(here([ours(3, 2048), foreign(4, 16_384)]));
  expect(changes.map(({ kind, zone }) => [kind, zone])).toEqual([
    ['update', 3],
    ['update', 4],
  ]);
  const at = { table: 'CT_Zone', where: [['_uuid', '==', ['uuid', uuid(4)]]] };
  expect(zoneOperations(uuid(0), changes).slice(2)).toEqual([
    { op: 'update', ...at, row: { limit: 16_384 } },
    {
      ...{ op: 'mutate', ...at },
      mutations: [
        ['external_ids', 'delete', ['set', [ZONE_KEY]]],
        ['external_ids', 'insert', ['map', [[ZONE_KEY, 'GR_red_snat']]]],
      ],
    },
  ]);
});

it('a zone of a new port gets the limit of that, in the row of the one before', () => {
  expect(zoneChanges(here([ours(3, 16_384, 'blue_b'), ours(4, 16_384)]))).toMatchObject([
    { kind: 'update', zone: 3, name: 'red_a', limit: 1024 },
  ]);
});

it('removes what is ours of zones that are gone, or have no limit any more', () => {
  const changes = zoneChanges(here([...RIGHT, ours(5, 8, 'before'), ours(6, 8), ours(7, 8), foreign(8, 8)]));
  expect(changes.map(({ kind, zone }) => [kind, zone])).toEqual([5, 6, 7].map((zone) => ['remove', zone]));
  expect(zoneOperations(uuid(0), changes)).toMatchObject([
    { op: 'mutate', mutations: [['ct_zones', 'delete', ['set', [5, 6, 7]]]] },
  ]);
});

it('knows a zone whose northbound row is not there, or not yet, from one that has to go', () => {
  expect(zoneChanges(here([...RIGHT, ours(5, 8)]))).toEqual([{ kind: 'remove', zone: 5, isOrphan: true }]);
});
