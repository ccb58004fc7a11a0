import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConstraintViolationError } from '../../errors.ts';
import { ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import type { DatabaseModel } from '../../schema/model.ts';
import { parseSchema } from '../../schema/parse.ts';
import { type MemoryServer, schemaJson } from '../../testing/memory/server.ts';
import { schemaPath } from '../../testing/schemas.ts';
import type { Operation } from '../../transact/operation.ts';
import { rowRef } from '../types.ts';
import type { ReconcilerReplica, ReconcilerSession } from './needs.ts';
import { type Fragment, names, pod, SWITCH, startWorld } from './world.suite.ts';

const reconnected = (server: MemoryServer, replica: ReconcilerReplica): Promise<void> =>
  new Promise((resolve) => {
    const stop = replica.onSynced((synced) => {
      if (!synced) return;
      stop();
      resolve();
    });
    server.disconnect();
  });

describe('OvsdbReconciler, when things go wrong,', () => {
  it('lets only the owner fail whose row the server refuses, and tries again later', async () => {
    const schema = parseSchema(JSON.parse(readFileSync(schemaPath('ovn-northbound'), 'utf8')));
    const { database, desired, reconciler, clock } = await startWorld(ovnNorthbound, { schema });
    const acl = (key: string, action: string): Fragment => ({
      rows: [
        { table: 'ACL', key, columns: { action: action as 'drop', direction: 'to-lport', match: '1', priority: 1 } },
        { table: 'Port_Group', key: `pg-${key}`, columns: { name: key, acls: [rowRef(key)] } },
      ],
    });
    desired.set('good1', acl('1', 'drop'));
    desired.set('bad', acl('2', 'bogus'));
    desired.set('good2', acl('3', 'drop'));
    await reconciler.whenIdle();
    expect(names(database, 'Port_Group')).toEqual(['1', '3']);
    expect(reconciler.status('bad')).toMatchObject({ kind: 'error', code: 'ERR_OVSDB_CONSTRAINT_VIOLATION' });
    expect(reconciler.counts.failures).toBe(1);
    clock.advance(1_000);
    await reconciler.whenIdle();
    expect(reconciler.counts.failures).toBe(2);
    desired.set('bad', acl('2', 'drop'));
    await reconciler.whenDone('bad');
    expect(names(database, 'Port_Group')).toEqual(['1', '2', '3']);
  });

  it('finds the one to blame when the server does not say which operation failed', async () => {
    const sizes: number[] = [];
    const picky = (session: ReconcilerSession): ReconcilerSession => ({
      reconnect: (reason) => session.reconnect(reason),
      transact: async (operations) => {
        sizes.push(operations.length);
        const bad = operations.some((operation) => operation.op === 'insert' && operation.row['name'] === 'bad');
        if (!bad) return session.transact(operations);
        const failure = { error: 'constraint violation', details: undefined, index: undefined, operation: undefined };
        throw new ConstraintViolationError({ ...failure, suspects: [] }, 'ERR_OVSDB_CONSTRAINT_VIOLATION');
      },
    });
    const { database, desired, reconciler } = await startWorld(ovnNorthbound, { wrap: picky });
    const good = Array.from({ length: 20 }, (_, index) => `good${index}`);
    for (const name of [...good.slice(0, 13), 'bad', ...good.slice(13)]) {
      desired.set(name, { rows: [{ table: 'Address_Set', key: name, columns: { name } }] });
    }
    await reconciler.whenIdle();
    expect(names(database, 'Address_Set')).toEqual(good.sort());
    expect(reconciler.status('bad').kind).toBe('error');
    expect(reconciler.status('good3').kind).toBe('done');
    // 21, then halves: each of the about log2(21) steps has one that fails and one that does not.
    expect(sizes.length).toBeLessThan(14);
  });

  it('does nothing twice when the server dies after a commit and before the reply', async () => {
    const { database, server, desired, reconciler, replica } = await startWorld(ovnNorthbound);
    let deaths = 0;
    server.options = { dieAfter: (method) => method === 'transact' && deaths++ < 3 };
    desired.set('net', SWITCH);
    desired.set('pod/a', pod('a'));
    await reconciler.whenDone('pod/a');
    await replica.whenSynced();
    desired.set('pod/b', pod('b'));
    await reconciler.whenDone('pod/b');
    desired.set('pod/c', pod('c'));
    await reconciler.whenDone('pod/c');
    expect(names(database, 'Logical_Switch')).toEqual(['s']);
    expect(names(database, 'Logical_Switch_Port')).toEqual(['a', 'b', 'c']);
    expect(deaths).toBe(3);
    expect(reconciler.counts.failures).toBe(3);
  });

  it('makes sure that an insert with an unknown outcome is not done twice', async () => {
    const { database, server, desired, reconciler } = await startWorld(ovnNorthbound);
    const sent: Operation[][] = [];
    server.options = {
      swallow: (method, params) => {
        if (method !== 'transact') return false;
        sent.push(params.slice(1) as Operation[]);
        if (sent.length > 1) return false;
        server.disconnect();
        return true;
      },
    };
    desired.set('net', SWITCH);
    await reconciler.whenDone('net');
    expect(sent.map((operations) => operations.map(({ op }) => op))).toEqual([['insert'], ['wait', 'insert']]);
    expect(names(database, 'Logical_Switch')).toEqual(['s']);
  });

  it('gives up for a while when somebody else insists on something different', async () => {
    const { database, desired, reconciler, clock } = await startWorld(ovnNorthbound);
    database.watch((before, after) => {
      if (before.get('Address_Set') === after.get('Address_Set')) return;
      const [row] = database.rows('Address_Set');
      if (row === undefined || (row['addresses'] as string[])[0] === 'theirs') return;
      setImmediate(() =>
        database.transact([{ op: 'update', table: 'Address_Set', where: [], row: { addresses: 'theirs' } }]),
      );
    });
    desired.set('a', { rows: [{ table: 'Address_Set', key: 'a', columns: { name: 'a', addresses: ['ours'] } }] });
    const error = await new Promise((resolve) => {
      reconciler.onStatus(({ status }) => {
        if (status.kind === 'error') resolve(status.code);
      });
    });
    expect(error).toBe('ERR_OVSDB_UNSETTLED');
    const { transactions } = reconciler.counts;
    expect(transactions).toBeLessThan(10);
    clock.advance(1_000);
    await new Promise(setImmediate);
    expect(reconciler.counts.transactions).toBeGreaterThanOrEqual(transactions);
  });

  it('leaves out what the server does not have', async () => {
    const { server, database, desired, replica, reconciler } = await startWorld(ovnNorthbound);
    const unsupported: unknown[] = [];
    replica.onUnsupported((what) => unsupported.push(what));
    const old = schemaJson(ovnNorthbound as unknown as DatabaseModel) as {
      tables: Record<string, { columns: Record<string, unknown> } | undefined>;
    };
    delete old.tables['Sampling_App'];
    delete old.tables['Logical_Switch']?.columns['copp'];
    server.options = { schema: () => old };
    await reconnected(server, replica);
    expect(unsupported).toEqual([{ table: 'Logical_Switch', column: 'copp' }, { table: 'Sampling_App' }]);
    desired.set('net', {
      rows: [
        { table: 'Logical_Switch', key: 's', columns: { name: 's', copp: rowRef('c') } },
        { table: 'Copp', key: 'c', columns: { name: 'c' } },
        { table: 'Sampling_App', key: 'app', columns: { id: 1, type: 'drop' } },
      ],
    });
    await reconciler.whenDone('net');
    expect(database.rows('Logical_Switch')[0]).toMatchObject({ name: 's', copp: undefined });
    server.options = {};
    await reconnected(server, replica);
    await reconciler.whenIdle();
    expect(database.rows('Logical_Switch')[0]?.['copp']).toBe(database.rows('Copp')[0]?._uuid);
    expect(names(database, 'Sampling_App')).toHaveLength(1);
  });

  it('keeps a failure of planning to the owner whose wish it is', async () => {
    const { database, desired, reconciler } = await startWorld(ovnNorthbound);
    let isArmed = false;
    const trap = {
      get name(): string {
        if (isArmed) throw new Error('trap');
        return 'bad';
      },
    };
    desired.set('good', SWITCH);
    desired.set('bad', { rows: [{ table: 'Logical_Switch', key: 'bad', columns: trap }] });
    desired.set('pod', pod('p'));
    isArmed = true;
    await reconciler.whenIdle();
    expect(names(database, 'Logical_Switch_Port')).toEqual(['p']);
    expect(reconciler.status('bad')).toMatchObject({ kind: 'error', code: 'ERR_OVSDB_PLAN' });
  });
});
