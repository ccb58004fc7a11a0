import { expect, it } from 'vitest';
import { OperationError } from '../../errors.ts';
import { ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import { rowRef } from '../types.ts';
import { fewerOf } from './batch.ts';
import type { ReconcilerSession } from './needs.ts';
import { type Fragment, KEY, names, pod, SWITCH, startWorld } from './world.suite.ts';

const acl = (name: string): Fragment => ({
  rows: [
    {
      ...{ table: 'ACL', key: name },
      columns: { name, action: 'drop', direction: 'to-lport', match: '1', priority: 1 },
    },
  ],
  members: [{ table: 'Logical_Switch', row: 's', column: 'acls', value: rowRef(name) }],
});

const groupOf = (owner: string): string | undefined => /^(g\d)\//.exec(owner)?.[1];

it('writes what one group wants by one transaction, however large, and others by small ones', async () => {
  const seen: string[] = [];
  const { database, desired, reconciler, events } = await startWorld(ovnNorthbound, {
    ...{ maxOperations: 10, groupOf },
    wrap: (session) => ({
      ...{ transact: async (operations) => session.transact(operations).finally(note) },
      reconnect: (error) => session.reconnect(error),
    }),
  });
  function note(): void {
    const all = database.rows('ACL').map(({ name }) => String(name));
    for (const group of ['g1', 'g2']) {
      const own = all.filter((one) => one.startsWith(group)).map((one) => one.split('-')[1]);
      seen.push(`${group} ${own.length} ${[...new Set(own)].join()}`);
    }
  }
  const set = (group: string, generation: string, count: number): void => {
    for (let at = 0; at < count; at += 1) {
      const owner = `${group}/${generation}${at}`;
      desired.set(owner, acl(`${group}-${generation}-${at}`));
    }
  };
  desired.set('net', SWITCH);
  for (let at = 0; at < 15; at += 1) {
    desired.set(`pod/${at}`, pod(`p${at}`));
    desired.set(`g1/a${at}`, acl(`g1-a-${at}`));
    desired.set(`g2/a${at}`, acl(`g2-a-${at}`));
  }
  await reconciler.whenIdle();
  for (let at = 0; at < 15; at += 1) desired.delete(`g1/a${at}`);
  set('g1', 'b', 25);
  await reconciler.whenIdle();
  expect(database.rows('ACL').length).toBe(40);
  expect(new Set(seen)).toEqual(new Set(['g1 0 ', 'g1 15 a', 'g1 25 b', 'g2 0 ', 'g2 15 a']));
  const sizes = events.flatMap((event) => (event.kind === 'committed' ? [event.operations] : []));
  expect(sizes.filter((size) => size > 10).length).toBe(3);
});

it('takes a part of owners that has whole groups', () => {
  const fewer = (text: string) => fewerOf(text.split(' '), groupOf)?.join(' ');
  expect(fewer('a b c d')).toBe('a b');
  expect(fewer('a g1/1 g1/2 b')).toBe('a');
  expect(fewer('g1/1 g1/2 g1/3 b')).toBe('g1/1 g1/2 g1/3');
  expect(fewer('g1/1 g1/2 g2/1 g2/2')).toBe('g1/1 g1/2');
  expect(fewer('g1/1 g1/2')).toBe(undefined);
  expect(fewer('a')).toBe(undefined);
});

const REFUSED = 'x'.repeat(64);
const refusing = async () => {
  const world = await startWorld(ovnNorthbound, { ...{ maxOperations: 100, groupOf }, wrap: refusingName });
  world.desired.set('net', SWITCH);
  world.desired.set('g1/old', acl('g1-old'));
  world.desired.set('pod/0', pod('p0'));
  await world.reconciler.whenIdle();
  return world;
};
/** As ovsdb-server does with what is longer than its schema says: it names one operation. */
const refusingName = (session: ReconcilerSession): ReconcilerSession => ({
  transact: async (operations) => {
    const index = operations.findIndex((operation) => JSON.stringify(operation).includes(`"${REFUSED}"`));
    if (index < 0) return session.transact(operations);
    throw new OperationError({
      ...{ error: 'constraint violation', details: 'too long', index },
      ...{ operation: operations[index], suspects: [index] },
    });
  },
  reconnect: (error) => session.reconnect(error),
});

it('a group that is refused stays as it was, is asked once, and holds nobody up', async () => {
  const { database, desired, reconciler, events } = await refusing();
  events.length = 0;
  desired.delete('g1/old');
  for (let at = 0; at < 20; at += 1) desired.set(`g1/new${at}`, acl(`g1-new-${at}`));
  desired.set('g1/refused', acl(REFUSED));
  desired.set('pod/1', pod('p1'));
  await reconciler.whenIdle();
  expect(names(database, 'ACL')).toEqual(['g1-old']);
  expect(names(database, 'Logical_Switch_Port')).toEqual(['p0', 'p1']);
  expect(events.filter(({ kind }) => kind === 'failed')).toHaveLength(1);
  expect(reconciler.status('g1/refused')).toMatchObject({ kind: 'failed' });
  expect(reconciler.status('g1/new3')).toEqual({
    kind: 'waiting',
    message: 'is written together with g1/refused, which is refused',
  });
  desired.delete('g1/refused');
  await reconciler.whenIdle();
  expect(names(database, 'ACL')).toHaveLength(20);
  expect(reconciler.problems()).toEqual([]);
});

it('a group with a value that does not fit its column stays as it was, too', async () => {
  const { database, desired, reconciler } = await refusing();
  desired.delete('g1/old');
  desired.set('g1/new', acl('g1-new'));
  const bad = acl('g1-bad');
  const rows = bad.rows?.map((row) => ({ ...row, columns: { ...row.columns, priority: 'high' } }));
  desired.set('g1/bad', { ...bad, rows } as unknown as Fragment);
  desired.set('pod/1', pod('p1'));
  await reconciler.whenIdle();
  expect(names(database, 'ACL')).toEqual(['g1-old']);
  expect(names(database, 'Logical_Switch_Port')).toEqual(['p0', 'p1']);
  desired.set('g1/bad', acl('g1-good'));
  await reconciler.whenIdle();
  expect(names(database, 'ACL')).toEqual(['g1-good', 'g1-new']);
});

it('what an earlier run has left of a group stays while the group is refused', async () => {
  const world = await startWorld(ovnNorthbound, { ...{ groupOf, isConnected: false }, wrap: refusingName });
  const { database, desired, reconciler, connect } = world;
  const ids = (key: string) => ({ external_ids: ['map', [[KEY, key]]] as ['map', [[string, string]]] });
  const drop = { action: 'drop', direction: 'to-lport', match: '1', priority: 1 };
  database.transact([
    { op: 'insert', table: 'ACL', row: { name: 'g1-left', ...drop, ...ids('g1-left') }, 'uuid-name': 'left' },
    {
      ...{ op: 'insert', table: 'Logical_Switch' },
      row: { name: 's', acls: ['set', [['named-uuid', 'left']]], ...ids('s') },
    },
  ]);
  desired.set('net', SWITCH);
  desired.set('g1/new', acl('g1-new'));
  desired.set('g1/refused', acl(REFUSED));
  reconciler.allowPrune();
  await connect();
  await reconciler.whenIdle();
  expect(names(database, 'ACL')).toEqual(['g1-left']);
  desired.delete('g1/refused');
  await reconciler.whenIdle();
  expect(names(database, 'ACL')).toEqual(['g1-new']);
});
