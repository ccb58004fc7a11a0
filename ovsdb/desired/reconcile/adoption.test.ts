/** Rows of tables without `external_ids`: nobody can say that they are ours before somebody wants one with their name. */
import { expect, it } from 'vitest';
import { ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import type { Operation } from '../../transact/operation.ts';
import { type Fragment, KEY, SWITCH, startWorld } from './world.suite.ts';

/** A switch of ours with a group of load balancers, as an earlier run has written them. */
const LEFT: Operation[] = [
  { op: 'insert', table: 'Load_Balancer_Group', row: { name: 'services' }, 'uuid-name': 'g' },
  {
    op: 'insert',
    table: 'Logical_Switch',
    row: {
      name: 's',
      load_balancer_group: ['set', [['named-uuid', 'g']]],
      external_ids: ['map', [[KEY, 's']]],
    },
  },
];

const GROUP: Fragment = { rows: [{ table: 'Load_Balancer_Group', key: 'g', columns: { name: 'services' } }] };

it('takes a group that is found to be ours out of a switch where nobody wants it', async () => {
  const { database, desired, reconciler, connect } = await startWorld(ovnNorthbound, { isConnected: false });
  database.transact(LEFT);
  desired.set('net', SWITCH);
  desired.set('group', GROUP);
  reconciler.allowPrune();
  await connect();
  await reconciler.whenIdle();
  expect(database.rows('Logical_Switch')).toMatchObject([{ load_balancer_group: [] }]);
  expect(database.rows('Load_Balancer_Group')).toHaveLength(1);
  expect(reconciler.problems()).toEqual([]);
});

it('leaves it there until it is known what is wanted', async () => {
  const { database, desired, reconciler, connect } = await startWorld(ovnNorthbound, { isConnected: false });
  database.transact(LEFT);
  desired.set('net', SWITCH);
  desired.set('group', GROUP);
  await connect();
  await reconciler.whenIdle();
  expect(database.rows('Logical_Switch')[0]?.['load_balancer_group']).toHaveLength(1);
  reconciler.allowPrune();
  await reconciler.whenIdle();
  expect(database.rows('Logical_Switch')).toMatchObject([{ load_balancer_group: [] }]);
});

it('takes out of a group that is found to be ours what nobody wants in it', async () => {
  const { database, desired, reconciler, connect } = await startWorld(ovnNorthbound, { isConnected: false });
  database.transact([
    {
      op: 'insert',
      table: 'Load_Balancer',
      row: { name: 'lb', external_ids: ['map', [[KEY, 'lb']]] },
      'uuid-name': 'l',
    },
    { op: 'insert', table: 'Load_Balancer_Group', row: { name: 'services', load_balancer: ['named-uuid', 'l'] } },
  ]);
  desired.set('service', { rows: [{ table: 'Load_Balancer', key: 'lb', columns: { name: 'lb' } }] });
  reconciler.allowPrune();
  await connect();
  await reconciler.whenIdle();
  desired.set('group', GROUP);
  await reconciler.whenIdle();
  expect(database.rows('Load_Balancer_Group')).toMatchObject([{ load_balancer: [] }]);
  expect(database.rows('Load_Balancer')).toHaveLength(1);
});

it('keeps a group that was to be removed as soon as that is possible, and is wanted before that', async () => {
  const claimed = { Load_Balancer_Group: () => true };
  const { database, desired, reconciler, connect } = await startWorld(ovnNorthbound, { claimed, isConnected: false });
  database.transact([
    { op: 'insert', table: 'Load_Balancer_Group', row: { name: 'services' }, 'uuid-name': 'g' },
    { op: 'insert', table: 'Logical_Switch', row: { name: 'foreign', load_balancer_group: ['named-uuid', 'g'] } },
  ]);
  const before = database.rows('Load_Balancer_Group');
  reconciler.allowPrune();
  await connect();
  await reconciler.whenIdle();
  expect(reconciler.problems()).toHaveLength(1);
  desired.set('group', GROUP);
  await reconciler.whenDone('group');
  database.transact([{ op: 'delete', table: 'Logical_Switch', where: [] }]);
  await reconciler.whenIdle();
  expect(database.rows('Load_Balancer_Group')).toEqual(before);
  expect(reconciler.problems()).toEqual([]);
});
