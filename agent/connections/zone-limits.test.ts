import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { openVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import { ovnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import type { MonitorSink } from '../../ovsdb/session/monitor-sink.ts';
import { MemoryDatabase } from '../../ovsdb/testing/memory/database.ts';
import type { Operation } from '../../ovsdb/transact/operation.ts';
import type { WireMap } from '../../ovsdb/wire/notation.ts';
import { createNorthboundReplica } from '../databases/northbound.ts';
import { createZoneReplica } from '../databases/zones.ts';
import { CONNECTIONS_KEY } from '../model/ownership.ts';
import { keepZoneLimits } from './zone-limits.ts';

const follow = (database: MemoryDatabase, replica: MonitorSink): void => {
  const requests = replica.prepare(database.model);
  const columns = new Map(Object.entries(requests).map(([table, [{ columns: names }]]) => [table, names]));
  const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  replica.replace(2, json(database.initial(2, columns)));
  database.watch((before, after) => replica.apply(2, json(database.changes(2, columns, before, after))));
};

const limitedBy = (limit: number | undefined): WireMap => [
  'map',
  limit === undefined ? [] : [[CONNECTIONS_KEY, String(limit)]],
];

const startNode = () => {
  const [nb, vswitch] = [new MemoryDatabase(ovnNorthbound), new MemoryDatabase(openVSwitch)];
  const made = (database: MemoryDatabase, operations: Operation[]): void => {
    const failed = database.transact(operations).filter((result) => (result as { error?: string } | null)?.error);
    expect(failed).toEqual([]);
  };
  made(vswitch, [
    { op: 'insert', table: 'Datapath', row: {}, 'uuid-name': 'dp' },
    { op: 'insert', table: 'Bridge', row: { name: 'br-int' }, 'uuid-name': 'br' },
    {
      ...{ op: 'insert', table: 'Open_vSwitch' },
      row: { datapaths: ['map', [['system', ['named-uuid', 'dp']]]], bridges: ['set', [['named-uuid', 'br']]] },
    },
  ]);
  const [northbound, zones] = [createNorthboundReplica(), createZoneReplica()];
  follow(nb, northbound);
  follow(vswitch, zones);
  const clock = createFakeClock();
  const session = {
    transact: (operations: readonly Operation[]) => {
      made(vswitch, [...operations]);
      return Promise.resolve([]);
    },
  };
  const onError = (error: unknown): never => {
    throw error;
  };
  const limits = keepZoneLimits({ node: 'n1', northbound, zones, session, clock, onError });
  const onBridge = (mutations: Operation[]): void => made(vswitch, mutations);
  const where = [['name', '==', 'br-int']] as const;
  return {
    ...{ northbound, clock, limits },
    /** As ovn-controller numbers them; undefined: it has no zone any more. */
    number: (name: string, zone: number | undefined) =>
      onBridge([
        {
          ...{ op: 'mutate', table: 'Bridge', where },
          mutations: [
            ['external_ids', 'delete', ['set', [name]]],
            ['external_ids', 'insert', ['map', zone === undefined ? [] : [[name, String(zone)]]]],
          ],
        },
      ]),
    lose: (zone: number) =>
      made(vswitch, [
        { op: 'mutate', table: 'Datapath', where: [], mutations: [['ct_zones', 'delete', ['set', [zone]]]] },
      ]),
    change: (zoneLimit: number) =>
      made(vswitch, [{ op: 'update', table: 'CT_Zone', where: [], row: { limit: zoneLimit } }]),
    router: (name: string, limit: number | undefined) =>
      made(nb, [
        { op: 'delete', table: 'Logical_Router', where: [['name', '==', name]] },
        { op: 'insert', table: 'Logical_Router', row: { name, external_ids: limitedBy(limit) } },
      ]),
    /** With a port that has no limit of its own. */
    tenant: (name: string, limit: number | undefined) =>
      made(nb, [
        { op: 'delete', table: 'Logical_Switch', where: [['name', '==', name]] },
        { op: 'insert', table: 'Logical_Switch_Port', row: { name: `${name}_port` }, 'uuid-name': 'port' },
        {
          ...{ op: 'insert', table: 'Logical_Switch' },
          row: { name, external_ids: limitedBy(limit), ports: ['set', [['named-uuid', 'port']]] },
        },
      ]),
    relimit: (name: string, limit: number | undefined) =>
      made(nb, [
        {
          op: 'update',
          table: 'Logical_Switch',
          where: [['name', '==', name]],
          row: { external_ids: limitedBy(limit) },
        },
      ]),
    /** Zone → limit. */
    written: (): Record<string, number> => {
      const [datapath] = zones.rows('Datapath');
      const rows = Object.entries(datapath?.ct_zones ?? {});
      return Object.fromEntries(rows.map(([zone, uuid]) => [zone, zones.get('CT_Zone', uuid)?.limit ?? -1]));
    },
  };
};

const NAMES = ['GR_a', 'GR_b', 'sw_a', 'sw_b'];
const ZONES = ['GR_a_snat', 'GR_b_dnat', 'sw_a_port', 'sw_b_port', 'sw_a_snat', 'other'];
const limit = fc.constantFrom(undefined, 10, 20);
const event = fc.oneof(
  fc.tuple(fc.constant('wait' as const), fc.constantFrom(300, 1_000)),
  fc.tuple(fc.constant('network' as const), fc.constantFrom(...NAMES), limit),
  fc.tuple(fc.constant('relimit' as const), fc.constantFrom('sw_a', 'sw_b'), limit),
  fc.tuple(fc.constant('number' as const), fc.constantFrom(...ZONES), fc.option(fc.nat(9), { nil: undefined })),
  fc.tuple(fc.constant('lose' as const), fc.nat(9)),
  fc.tuple(fc.constant('change' as const), fc.constantFrom(10, 20)),
  fc.tuple(fc.constant('wait' as const), fc.constantFrom(1, 100, 300)),
);

it('limits each zone as its port, switch or router, whatever changes in which order', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 10, maxLength: 40 }), async (events) => {
      const node = startNode();
      const limits = new Map<string, number | undefined>();
      const numbers = new Map<string, number>();
      for (const one of events) {
        if (one[0] === 'network') {
          const [, name, value] = one;
          if (name.startsWith('GR_')) node.router(name, value);
          else node.tenant(name, value);
          limits.set(name, value);
        } else if (one[0] === 'relimit') {
          node.relimit(one[1], one[2]);
          if (limits.has(one[1])) limits.set(one[1], one[2]);
        } else if (one[0] === 'number') {
          const [, name, zone] = one;
          // Of one zone at a time.
          if (zone !== undefined && [...numbers].some(([other, used]) => used === zone && other !== name)) continue;
          node.number(`ct-zone-${name}`, zone);
          if (zone === undefined) numbers.delete(name);
          else numbers.set(name, zone);
        } else if (one[0] === 'lose') node.lose(one[1]);
        else if (one[0] === 'change') node.change(one[1]);
        else await node.clock.advance(one[1]);
      }
      await node.clock.advance(60_000);
      const desired = [...numbers].flatMap(([name, zone]) => {
        const value = limits.get(name.replace(/_(?:[sd]nat|port)$/, ''));
        return value === undefined ? [] : [[zone, value] as const];
      });
      expect(node.written()).toEqual(Object.fromEntries(desired));
      node.limits.stop();
    }),
    { numRuns: 200 },
  );
});

it('puts right what another program has changed, and follows the limit of a switch with its ports', async () => {
  const node = startNode();
  node.tenant('sw_a', 10);
  node.number('ct-zone-sw_a_port', 3);
  await node.clock.advance(1_000);
  expect(node.written()).toEqual({ 3: 10 });
  node.change(7);
  await node.clock.advance(1_000);
  expect(node.written()).toEqual({ 3: 10 });
  node.lose(3);
  await node.clock.advance(1_000);
  expect(node.written()).toEqual({ 3: 10 });
  node.relimit('sw_a', 20);
  await node.clock.advance(1_000);
  expect(node.written()).toEqual({ 3: 20 });
  node.limits.stop();
});

it('looks at the zones that an update is about, and at no other', async () => {
  const node = startNode();
  for (let index = 0; index < 100; index += 1) {
    node.router(`GR_${index}`, 10);
    node.number(`ct-zone-GR_${index}_snat`, index + 1);
  }
  await node.clock.advance(1_000);
  expect(Object.keys(node.written())).toHaveLength(100);
  await node.clock.advance(1_000);
  const looked = vi.spyOn(node.northbound, 'findOne');
  node.number('ovn-nb-cfg', 7);
  await node.clock.advance(1_000);
  expect(looked).not.toHaveBeenCalled();
  node.router('GR_new', 10);
  node.number('ct-zone-GR_new_snat', 200);
  await node.clock.advance(1_000);
  expect(node.written()[200]).toBe(10);
  expect(looked.mock.calls.length).toBeLessThan(20);
  node.limits.stop();
});
