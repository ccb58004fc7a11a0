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
  expect(reconciler.unfinished().size).toBe(0);
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
