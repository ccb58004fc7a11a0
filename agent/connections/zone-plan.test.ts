import { expect, it } from 'vitest';
import type { Uuid } from '../../ovsdb/uuid.ts';
import { ZONE_KEY, type ZonesHere, zoneOperations } from './zone-plan.ts';

const uuid = (digit: number): Uuid => `00000000-0000-4000-8000-00000000000${digit}` as Uuid;
const LIMITS: Readonly<Record<string, number>> = { red_a: 1024, GR_red_snat: 16_384 };

const here = (more: Partial<ZonesHere> = {}): ZonesHere => ({
  datapath: uuid(0),
  names: new Map([
    [3, 'red_a'],
    [4, 'GR_red_snat'],
    [5, 'somebody'],
  ]),
  limitOf: (name) => LIMITS[name],
  rows: new Map(),
  ...more,
});
const ours = (limit: number, digit: number) => ({ uuid: uuid(digit), limit, isOurs: true });

it('makes a row for each zone that has none, in the transaction that puts it into the map', () => {
  const values = (limit: number, name: string) => ({ limit, external_ids: ['map', [[ZONE_KEY, name]]] });
  expect(zoneOperations(here())).toEqual([
    { op: 'insert', table: 'CT_Zone', 'uuid-name': 'zone_3', row: values(1024, 'red_a') },
    { op: 'insert', table: 'CT_Zone', 'uuid-name': 'zone_4', row: values(16_384, 'GR_red_snat') },
    {
      op: 'mutate',
      table: 'Datapath',
      where: [['_uuid', '==', ['uuid', uuid(0)]]],
      mutations: [
        [
          'ct_zones',
          'insert',
          [
            'map',
            [
              [3, ['named-uuid', 'zone_3']],
              [4, ['named-uuid', 'zone_4']],
            ],
          ],
        ],
      ],
    },
  ]);
});

it('writes nothing when all is as it should be', () => {
  const rows = new Map([
    [3, ours(1024, 1)],
    [4, ours(16_384, 2)],
    [9, { uuid: uuid(3), limit: 7, isOurs: false }],
  ]);
  expect(zoneOperations(here({ rows }))).toEqual([]);
});

it('changes a limit in its row, and takes over what ovn-controller has left', () => {
  const rows = new Map([
    [3, ours(2048, 1)],
    [4, { uuid: uuid(2), limit: 16_384, isOurs: false }],
  ]);
  expect(zoneOperations(here({ rows }))).toMatchObject([
    { op: 'update', where: [['_uuid', '==', ['uuid', uuid(1)]]], row: { limit: 1024 } },
    { op: 'update', where: [['_uuid', '==', ['uuid', uuid(2)]]], row: { limit: 16_384 } },
  ]);
});

it('removes what is ours of zones that are gone, or have no limit any more, and nothing else', () => {
  const rows = new Map([
    ...([3, 5, 7] as const).map((zone) => [zone, ours(1024, zone)] as const),
    [8, { uuid: uuid(8), limit: 1, isOurs: false }] as const,
  ]);
  const [last, ...more] = zoneOperations(
    here({
      rows,
      names: new Map([
        [3, 'red_a'],
        [5, 'somebody'],
      ]),
    }),
  );
  expect(last).toMatchObject({ op: 'mutate', mutations: [['ct_zones', 'delete', ['set', [5, 7]]]] });
  expect(more).toEqual([]);
});
