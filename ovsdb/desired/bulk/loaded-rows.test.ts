/** What a bulk load has found to be right is not taken for right when something has changed since. */
import { describe, expect, it, vi } from 'vitest';
import type { OvsdbSession } from '../../session/session.ts';
import type { Operation } from '../../transact/operation.ts';
import type { ReconcilerSession } from '../reconcile/needs.ts';
import { type Fragment, KEY, names, pod, SWITCH } from '../reconcile/world.suite.ts';
import { BulkWorld } from './bulk-world.suite.ts';
import { LoadedRows } from './loaded-rows.ts';

const PODS = Array.from({ length: 30 }, (_, index) => `pod${String(index).padStart(2, '0')}`);
const WISHES = new Map<string, Fragment>([
  ['net', SWITCH],
  ...PODS.map((name): [string, Fragment] => [name, pod(name)]),
]);

/** @param act before one of the last transactions, when most rows are compared @returns how many of them were as wanted in the end */
const loadWith = async (act: (world: BulkWorld) => void): Promise<{ world: BulkWorld; found: number }> => {
  const settled = vi.spyOn(LoadedRows.prototype, 'has');
  const compare = vi.spyOn(LoadedRows.prototype, 'compare');
  let sent = 0;
  const wrap = (session: OvsdbSession): ReconcilerSession => ({
    reconnect: (reason) => session.reconnect(reason),
    transact: (operations) => session.transact(operations),
    transactText: async (text) => {
      sent += 1;
      if (sent === 14) {
        await vi.waitFor(() => expect(compare.mock.calls.length).toBeGreaterThan(11));
        act(world);
      }
      await session.transactText(text);
    },
  });
  const world: BulkWorld = new BulkWorld({ maxOperations: 2, wrap });
  await world.want(WISHES).start();
  await world.reconciler.whenIdle();
  const found = settled.mock.results.filter(({ value }) => value === true).length;
  vi.restoreAllMocks();
  expect(sent).toBeGreaterThanOrEqual(14);
  return { world, found };
};

const uuidOf = (world: BulkWorld, table: string, name: string): string =>
  String(world.database.rows(table).find((row) => row['name'] === name)?._uuid);

const write = (operation: (world: BulkWorld) => Operation) => (world: BulkWorld) =>
  void world.database.transact([operation(world)]);

describe('rows of a bulk load', () => {
  it('are not compared again where nothing has changed since', async () => {
    const { world, found } = await loadWith(() => {});
    await using _ = world;
    expect(found).toBeGreaterThan(PODS.length / 2);
    expect(names(world.database, 'Logical_Switch_Port')).toEqual(PODS);
    expect(world.reconciler.counts).toMatchObject({ failures: 0, driftRepairs: 0 });
  });

  it.each<[string, (world: BulkWorld) => void]>([
    [
      'a row is changed',
      write((world) => ({
        ...{ op: 'update', table: 'Logical_Switch_Port', row: { addresses: 'other' } },
        where: [['_uuid', '==', ['uuid', uuidOf(world, 'Logical_Switch_Port', 'pod03')]]],
      })),
    ],
    [
      'a row is removed',
      write((world) => ({
        op: 'mutate',
        table: 'Logical_Switch',
        where: [['name', '==', 's']],
        mutations: [['ports', 'delete', ['set', [['uuid', uuidOf(world, 'Logical_Switch_Port', 'pod03')]]]]],
      })),
    ],
    [
      'another row of the same key comes',
      write(() => ({
        op: 'insert',
        table: 'Logical_Switch',
        row: { name: 's', external_ids: ['map', [[KEY, 's']]] },
      })),
    ],
    [
      'a foreign row takes one of its own',
      write((world) => ({
        op: 'insert',
        table: 'Logical_Switch',
        row: { name: 'foreign', ports: ['set', [['uuid', uuidOf(world, 'Logical_Switch_Port', 'pod03')]]] },
      })),
    ],
    ['something else is wanted', ({ desired }) => desired.set('pod03', wishFor('pod03', 'other'))],
    ['something is not wanted any more', ({ desired }) => desired.delete('pod03')],
    ['the server is gone for a moment', ({ server }) => server.disconnect()],
  ])('are compared again where %s', async (_, act) => {
    const { world } = await loadWith(act);
    await using _world = world;
    await world.replica.whenSynced();
    await world.reconciler.whenIdle();
    await using ordinary = await new BulkWorld({
      bulkFrom: Number.POSITIVE_INFINITY,
      desired: world.desired,
    }).start();
    await ordinary.reconciler.whenIdle();
    const own = (rows: Record<string, string[]>) => ({
      ports: rows['Logical_Switch_Port'],
      switches: rows['Logical_Switch']?.filter((row) => !row.includes('"foreign"')),
    });
    expect(own(world.rows())).toEqual(own(ordinary.rows()));
    for (const row of world.database.rows('Logical_Switch'))
      if (row['name'] === 'foreign') expect(row['ports']).toEqual([]);
    expect(world.reconciler.problems()).toEqual([]);
  });
});

const wishFor = (name: string, address: string): Fragment => ({
  ...pod(name),
  rows: [{ table: 'Logical_Switch_Port', key: name, columns: { name, addresses: [address] } }],
});
