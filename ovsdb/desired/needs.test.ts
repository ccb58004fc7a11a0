/** Rows that must not be without others: a port without the group that isolates it would be open. */
import { expect, it } from 'vitest';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import type { OvsdbSession } from '../session/session.ts';
import { BulkWorld, operationsOf } from './bulk/bulk-world.suite.ts';
import type { ReconcilerSession } from './reconcile/needs.ts';
import { type Fragment, names, pod, SWITCH, startWorld } from './reconcile/world.suite.ts';
import { rowRef } from './types.ts';

const GROUP: Fragment = { rows: [{ table: 'Port_Group', key: 'deny', columns: { name: 'deny' } }] };

const isolated = (name: string): Fragment => {
  const { rows = [], members = [] } = pod(name);
  return {
    rows: rows.map((row) => ({ ...row, needs: ['deny'] })),
    members: [...members, { table: 'Port_Group', row: 'deny', column: 'ports', value: rowRef(name) }],
  };
};

const recorded = () => {
  const sent: unknown[][] = [];
  const wrap = (session: ReconcilerSession): ReconcilerSession => ({
    reconnect: (reason) => session.reconnect(reason),
    transact: (operations) => {
      sent.push([...operations]);
      return session.transact(operations);
    },
  });
  return { sent, wrap };
};

it('comes with what it needs in one transaction, whoever wants that and however little fits', async () => {
  const { sent, wrap } = recorded();
  const { database, desired, reconciler } = await startWorld(ovnNorthbound, { wrap, maxOperations: 1 });
  desired.set('net', SWITCH);
  desired.set('a', isolated('a'));
  desired.set('z', GROUP);
  await reconciler.whenIdle();
  const withPort = sent.filter((operations) => JSON.stringify(operations).includes('Logical_Switch_Port'));
  expect(withPort).toHaveLength(1);
  expect(withPort[0]).toContainEqual(expect.objectContaining({ op: 'insert', table: 'Port_Group' }));
  expect(database.rows('Port_Group')).toMatchObject([{ name: 'deny', ports: [expect.anything()] }]);
});

it('is entered into what is there already by the transaction that inserts it', async () => {
  const { sent, wrap } = recorded();
  const { desired, reconciler } = await startWorld(ovnNorthbound, { wrap });
  desired.set('net', SWITCH);
  desired.set('z', GROUP);
  await reconciler.whenIdle();
  desired.set('a', isolated('a'));
  await reconciler.whenIdle();
  expect(sent.at(-1)).toEqual([
    expect.objectContaining({ op: 'insert', table: 'Logical_Switch_Port' }),
    expect.objectContaining({ op: 'mutate', table: 'Logical_Switch' }),
    expect.objectContaining({ op: 'mutate', table: 'Port_Group' }),
  ]);
});

it('waits for what nobody wants yet', async () => {
  const { database, desired, reconciler } = await startWorld(ovnNorthbound);
  desired.set('net', SWITCH);
  desired.set('a', isolated('a'));
  desired.set('b', pod('b'));
  await reconciler.whenIdle();
  expect(names(database, 'Logical_Switch_Port')).toEqual(['b']);
  expect(reconciler.status('a').message).toContain('"a" must not be without "deny", which does not exist');
  desired.set('z', GROUP);
  await reconciler.whenIdle();
  expect(names(database, 'Logical_Switch_Port')).toEqual(['a', 'b']);
  expect(database.rows('Port_Group')[0]?.['ports']).toHaveLength(1);
});

it('waits for what cannot be written, be it that the server refuses it or that its name is taken', async () => {
  const { database, desired, reconciler, clock } = await startWorld(ovnNorthbound, {
    wrap: (session) => ({
      reconnect: (reason) => session.reconnect(reason),
      transact: (operations) => {
        const isRefused = JSON.stringify(operations).includes('"refused"');
        return isRefused ? session.transact([{ op: 'abort' }]) : session.transact(operations);
      },
    }),
  });
  database.transact([{ op: 'insert', table: 'Port_Group', row: { name: 'deny' } }]);
  desired.set('net', SWITCH);
  desired.set('a', isolated('a'));
  desired.set('z', GROUP);
  await reconciler.whenIdle();
  expect(names(database, 'Logical_Switch_Port')).toEqual([]);
  desired.set('z', { rows: [{ table: 'Port_Group', key: 'deny', columns: { name: 'refused' } }] });
  await reconciler.whenIdle();
  clock.pass(60_000);
  await reconciler.whenIdle();
  expect(names(database, 'Logical_Switch_Port')).toEqual([]);
  desired.set('z', { rows: [{ table: 'Port_Group', key: 'deny', columns: { name: 'other' } }] });
  await reconciler.whenIdle();
  clock.pass(60_000);
  await reconciler.whenIdle();
  expect(names(database, 'Logical_Switch_Port')).toEqual(['a']);
});

it('is not made another one without what that needs: a port is there for the next pod of its name', async () => {
  const { database, desired, reconciler } = await startWorld(ovnNorthbound);
  const forAnother = (fragment: Fragment): Fragment => ({
    ...fragment,
    rows: (fragment.rows ?? []).map((row) => ({ ...row, columns: { ...row.columns, addresses: ['other'] } }) as never),
  });
  desired.set('net', SWITCH);
  desired.set('a', pod('a'));
  await reconciler.whenIdle();
  desired.set('a', forAnother(isolated('a')));
  await reconciler.whenIdle();
  expect(database.rows('Logical_Switch_Port')).toMatchObject([{ addresses: ['a'] }]);
  desired.set('z', GROUP);
  await reconciler.whenIdle();
  expect(database.rows('Logical_Switch_Port')).toMatchObject([{ addresses: ['other'] }]);
  expect(database.rows('Port_Group')).toMatchObject([{ ports: [expect.anything()] }]);
});

it('stays when what it needs is wanted no more: it was not let in without it', async () => {
  const { database, desired, reconciler } = await startWorld(ovnNorthbound);
  desired.set('net', SWITCH);
  desired.set('a', isolated('a'));
  desired.set('z', GROUP);
  await reconciler.whenIdle();
  desired.delete('z');
  desired.set('a', pod('a'));
  await reconciler.whenIdle();
  expect(names(database, 'Logical_Switch_Port')).toEqual(['a']);
});

it('comes with what it needs in one transaction of a bulk load, too', async () => {
  const texts: string[] = [];
  const wrap = (session: OvsdbSession): ReconcilerSession => ({
    reconnect: (reason) => session.reconnect(reason),
    transact: (operations) => session.transact(operations),
    transactText: (text) => {
      texts.push(text);
      return session.transactText(text);
    },
  });
  const pods = Array.from({ length: 30 }, (_, index) => `pod${index}`);
  await using world = await new BulkWorld({ maxOperations: 4, wrap })
    .want(new Map([['net', SWITCH], ...pods.map((name): [string, Fragment] => [name, isolated(name)]), ['z', GROUP]]))
    .start();
  await world.reconciler.whenIdle();
  expect(texts.length).toBeGreaterThan(5);
  for (const text of texts) {
    const ports = operationsOf(text).filter(
      (operation) => operation.op === 'insert' && operation.table === 'Logical_Switch_Port',
    );
    const group = operationsOf(text).filter((operation) => 'table' in operation && operation.table === 'Port_Group');
    const entered = JSON.stringify(group);
    for (const port of ports) expect(entered).toContain((port as { uuid?: string }).uuid ?? 'no uuid');
  }
  expect(world.database.rows('Port_Group')[0]?.['ports']).toHaveLength(30);
});
