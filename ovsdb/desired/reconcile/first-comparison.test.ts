/** What a reconciler says and does before the database has been read, and when it has. */
import { expect, it } from 'vitest';
import { ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import type { Operation } from '../../transact/operation.ts';
import { KEY, names, pod, SWITCH, startWorld } from './world.suite.ts';

const start = () => startWorld(ovnNorthbound, { isConnected: false });

/** The switch and port `a`, as an earlier run has written them. */
const LEFT: Operation[] = [
  {
    op: 'insert',
    table: 'Logical_Switch_Port',
    row: { name: 'a', addresses: 'a', external_ids: ['map', [[KEY, 'a']]] },
    'uuid-name': 'a',
  },
  {
    op: 'insert',
    table: 'Logical_Switch',
    row: { name: 's', ports: ['set', [['named-uuid', 'a']]], external_ids: ['map', [[KEY, 's']]] },
  },
];

it('says that everything waits until there is something to compare with, and writes nothing that is right', async () => {
  const { database, desired, reconciler, connect, clock } = await start();
  const told: string[] = [];
  reconciler.onStatus(({ owner, status }) => told.push(`${owner} ${status.kind}`));
  database.transact(LEFT);
  desired.set('net', SWITCH);
  desired.set('pod/a', pod('a'));
  let isIdle = false;
  const idle = reconciler.whenIdle().then(() => {
    isIdle = true;
  });
  const pending = { isDesired: true, status: { kind: 'pending' } };
  expect(new Set(reconciler.problems())).toEqual(new Set(['net', 'pod/a'].map((owner) => ({ owner, ...pending }))));
  expect(() => reconciler.differences()).toThrow('the database is not connected');
  expect(reconciler.status('pod/a').kind).toBe('pending');
  clock.pass(500);
  expect(reconciler.queue()).toMatchObject({ depth: 1, oldestMs: 500, hasCompared: false });
  await new Promise(setImmediate);
  expect(isIdle).toBe(false);
  const done = reconciler.whenDone('pod/a');
  await connect();
  await Promise.all([idle, done]);
  expect(told).toEqual(['net pending', 'pod/a pending', 'net done', 'pod/a done']);
  expect(reconciler.queue()).toMatchObject({ depth: 0, oldestMs: 0, hasCompared: true });
  expect(reconciler.differences()).toEqual([]);
  expect(reconciler.problems()).toEqual([]);
  expect(reconciler.counts).toMatchObject({ transactions: 0, driftRepairs: 0 });
});

it('writes only what is missing', async () => {
  const { database, desired, reconciler, connect } = await start();
  database.transact(LEFT);
  for (const name of ['a', 'b']) desired.set(`pod/${name}`, pod(name));
  desired.set('net', SWITCH);
  await connect();
  await reconciler.whenIdle();
  expect(names(database, 'Logical_Switch_Port')).toEqual(['a', 'b']);
  expect(reconciler.counts).toMatchObject({ transactions: 1, driftRepairs: 0 });
});

it('removes what was withdrawn before there was anything to compare with, and nothing else', async () => {
  const { database, desired, reconciler, connect } = await start();
  database.transact(LEFT);
  desired.set('pod/a', pod('a'));
  desired.delete('pod/a');
  expect(reconciler.status('pod/a').kind).toBe('pending');
  expect(reconciler.problems().map(({ owner }) => owner)).toEqual(['pod/a']);
  await connect();
  await reconciler.whenDone('pod/a');
  expect(names(database, 'Logical_Switch_Port')).toEqual([]);
  expect(names(database, 'Logical_Switch')).toEqual(['s']);
});

it('has nothing queued when nobody wants anything', async () => {
  const { reconciler, connect } = await start();
  expect(reconciler.queue()).toMatchObject({ depth: 0, oldestMs: 0 });
  expect(reconciler.problems()).toEqual([]);
  await connect();
  await reconciler.whenIdle();
});

it('knows at once that what is right stays so when everything is compared again', async () => {
  const { database, desired, reconciler, connect } = await start();
  database.transact(LEFT);
  desired.set('net', SWITCH);
  desired.set('pod/a', pod('a'));
  await connect();
  await reconciler.whenIdle();
  reconciler.resync();
  expect(reconciler.status('pod/a').kind).toBe('done');
  expect(reconciler.queue().depth).toBe(0);
  database.transact([{ op: 'update', table: 'Logical_Switch_Port', where: [], row: { addresses: 'other' } }]);
  await new Promise(setImmediate);
  await reconciler.whenIdle();
  expect(database.rows('Logical_Switch_Port')[0]?.['addresses']).toEqual(['a']);
  expect(reconciler.counts.driftRepairs).toBe(1);
});
