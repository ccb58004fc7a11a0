import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConstraintViolationError, type OperationError, OutcomeUnknownError, operationError } from '../../errors.ts';
import { type OpenVSwitch, openVSwitch } from '../../models/open-vswitch.gen.ts';
import { ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import type { DatabaseModel } from '../../schema/model.ts';
import { parseSchema } from '../../schema/parse.ts';
import { type MemoryServer, schemaJson } from '../../testing/memory/server.ts';
import { schemaPath } from '../../testing/schemas.ts';
import type { Operation } from '../../transact/operation.ts';
import { type DesiredFragment, foreignRef, rowRef } from '../types.ts';
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
    expect(reconciler.status('bad')).toMatchObject({ kind: 'failed', code: 'ERR_OVSDB_CONSTRAINT_VIOLATION' });
    expect(reconciler.counts.failures).toBe(1);
    clock.pass(1_000);
    await reconciler.whenIdle();
    expect(reconciler.counts.failures).toBe(2);
    desired.set('bad', acl('2', 'drop'));
    await reconciler.whenDone('bad');
    expect(names(database, 'Port_Group')).toEqual(['1', '2', '3']);
  });

  it('writes what two owners share for the one who is not refused, and what needs it when the other may be tried again', async () => {
    let isRefused = true;
    const picky = (session: ReconcilerSession): ReconcilerSession => ({
      reconnect: (reason) => session.reconnect(reason),
      transact: async (operations) => {
        const index = operations.findIndex((operation) => operation.op === 'insert' && operation.row['name'] === 'own');
        if (!isRefused || index < 0) return session.transact(operations);
        const failure = { error: 'constraint violation', details: undefined, index, operation: undefined };
        throw new ConstraintViolationError({ ...failure, suspects: [index] }, 'ERR_OVSDB_CONSTRAINT_VIOLATION');
      },
    });
    const { database, desired, reconciler, clock } = await startWorld(ovnNorthbound, { wrap: picky });
    const set = (name: string) => ({ table: 'Address_Set' as const, key: name, columns: { name } });
    desired.set('a', { rows: [set('own'), set('shared')] });
    desired.set('b', { rows: [set('shared')] });
    await reconciler.whenIdle();
    expect(reconciler.status('a')).toMatchObject({ kind: 'failed', code: 'ERR_OVSDB_CONSTRAINT_VIOLATION' });
    await reconciler.whenDone('b');
    expect(names(database, 'Address_Set')).toEqual(['shared']);
    // A group that needs a row of the refused one.
    desired.set('c', { members: [{ table: 'Address_Set', row: 'own', column: 'addresses', value: '10.0.0.1' }] });
    await reconciler.whenIdle();
    expect(reconciler.status('c').kind).toBe('waiting');
    isRefused = false;
    clock.pass(1_000);
    await reconciler.whenDone('c');
    expect(names(database, 'Address_Set')).toEqual(['own', 'shared']);
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
    expect(reconciler.status('bad').kind).toBe('failed');
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

  it('replaces a row whose insert had no outcome, when a column that cannot be changed is desired otherwise', async () => {
    const port = (name: string): DesiredFragment<OpenVSwitch> => ({
      rows: [
        { table: 'Port', key: 'p', columns: { name, interfaces: [rowRef('i')] } },
        { table: 'Interface', key: 'i', columns: { name: 'i' } },
      ],
      members: [{ table: 'Bridge', row: foreignRef('Bridge', { name: 'br' }), column: 'ports', value: rowRef('p') }],
    });
    const { database, server, desired, reconciler } = await startWorld(openVSwitch);
    const bridges = ['set', [['named-uuid', 'b']]] as const;
    database.transact([
      { op: 'insert', table: 'Bridge', row: { name: 'br' }, 'uuid-name': 'b' },
      { op: 'insert', table: 'Open_vSwitch', row: { bridges } },
    ]);
    let deaths = 0;
    server.options = {
      dieAfter: (method) => {
        if (method !== 'transact' || deaths++ > 0) return false;
        desired.set('pod', port('after'));
        return true;
      },
    };
    desired.set('pod', port('before'));
    await reconciler.whenDone('pod', AbortSignal.timeout(10_000));
    expect(names(database, 'Port')).toEqual(['after']);
    expect(reconciler.counts.failures).toBe(1);
  });

  it('finds a row that cannot be marked again, whatever is wanted when the outcome of its insert gets known', async () => {
    const group = (name: string): Fragment => ({
      rows: [{ table: 'Load_Balancer_Group', key: 'g', columns: { name } }],
    });
    for (const next of [undefined, group('other')]) {
      const { database, server, desired, reconciler, replica } = await startWorld(ovnNorthbound);
      let deaths = 0;
      server.options = {
        dieAfter: (method) => {
          if (method !== 'transact' || deaths++ > 0) return false;
          if (next === undefined) desired.delete('lb');
          else desired.set('lb', next);
          return true;
        },
      };
      desired.set('lb', group('first'));
      await reconciler.whenIdle();
      await replica.whenSynced();
      await reconciler.whenDone('lb');
      expect(names(database, 'Load_Balancer_Group')).toEqual(next === undefined ? [] : ['other']);
    }
  });

  it('lets those go on who wait for a row that cannot be marked, when it turns out to be there', async () => {
    const { database, server, desired, reconciler } = await startWorld(ovnNorthbound, { maxOperations: 1 });
    let deaths = 0;
    server.options = {
      dieAfter: (method) => {
        if (method !== 'transact' || deaths++ > 0) return false;
        const columns = { name: 's', load_balancer_group: [rowRef('g')] };
        desired.set('net', { rows: [{ table: 'Logical_Switch', key: 's', columns }] });
        desired.delete('lb');
        return true;
      },
    };
    desired.set('lb', { rows: [{ table: 'Load_Balancer_Group', key: 'g', columns: { name: 'g' } }] });
    await reconciler.whenIdle();
    expect(names(database, 'Logical_Switch')).toEqual(['s']);
    expect(reconciler.status('net').kind).toBe('done');
  });

  it('makes a new connection when a transaction has no outcome while the old one seems to be there', async () => {
    const reasons: string[] = [];
    let sent = 0;
    const silent = (session: ReconcilerSession): ReconcilerSession => ({
      reconnect: (reason) => {
        reasons.push(reason.code);
        session.reconnect(reason);
      },
      transact: (operations) =>
        sent++ === 0 ? Promise.reject(new OutcomeUnknownError('no reply')) : session.transact(operations),
    });
    const { database, desired, reconciler } = await startWorld(ovnNorthbound, { wrap: silent });
    desired.set('net', SWITCH);
    await reconciler.whenDone('net');
    expect(reasons).toEqual(['ERR_OVSDB_OUTCOME_UNKNOWN']);
    expect(names(database, 'Logical_Switch')).toEqual(['s']);
  });

  it('does not hold a failure against an owner that has got over it and waits for something else', async () => {
    let refused = 0;
    const once = (session: ReconcilerSession): ReconcilerSession => ({
      reconnect: (reason) => session.reconnect(reason),
      transact: (operations) => {
        const failure = { details: undefined, index: undefined, operation: undefined, suspects: [] };
        if (refused++ === 0) return Promise.reject(operationError({ error: 'constraint violation', ...failure }));
        return session.transact(operations);
      },
    });
    const { database, desired, reconciler, clock } = await startWorld(ovnNorthbound, { wrap: once });
    desired.set('a', {
      rows: [{ table: 'Address_Set', key: 'a', columns: { name: 'a' } }],
      members: [{ table: 'Address_Set', row: 'missing', column: 'addresses', value: '1' }],
    });
    await reconciler.whenIdle();
    expect(reconciler.status('a')).toMatchObject({ kind: 'failed', code: 'ERR_OVSDB_CONSTRAINT_VIOLATION' });
    clock.pass(1_000);
    await reconciler.whenIdle();
    expect(names(database, 'Address_Set')).toEqual(['a']);
    expect(reconciler.status('a')).toMatchObject({ kind: 'waiting', message: expect.stringContaining('missing') });
  });

  it('goes on after it was stopped and started again, whatever it waited for', async () => {
    let refusal: { readonly error: OperationError; readonly refused: () => void } | undefined;
    const moody = (session: ReconcilerSession): ReconcilerSession => ({
      reconnect: (reason) => session.reconnect(reason),
      transact: async (operations) => {
        if (refusal === undefined) return session.transact(operations);
        // The error has been dealt with when timers run next.
        setImmediate(refusal.refused);
        throw refusal.error;
      },
    });
    const { desired, reconciler, database } = await startWorld(ovnNorthbound, { wrap: moody });
    for (const error of ['cluster error', 'constraint violation']) {
      const failure = { error, details: undefined, index: undefined, operation: undefined, suspects: [] };
      await new Promise<void>((refused) => {
        refusal = { error: operationError(failure), refused };
        desired.set(error, { rows: [{ table: 'Address_Set', key: error, columns: { name: error } }] });
      });
      await reconciler.stop();
      refusal = undefined;
      reconciler.start();
      await reconciler.whenDone(error);
    }
    expect(names(database, 'Address_Set')).toEqual(['cluster error', 'constraint violation']);
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
        if (status.kind === 'failed') resolve(status.code);
      });
    });
    expect(error).toBe('ERR_OVSDB_UNSETTLED');
    const { transactions } = reconciler.counts;
    expect(transactions).toBeLessThan(10);
    const again = new Promise((resolve) => reconciler.onStatus(({ status }) => resolve(status.kind)));
    clock.pass(1_000);
    await again;
    expect(reconciler.counts.transactions).toBeGreaterThan(transactions);
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

  it('writes no rows where the server has no room for the mark, as nobody would know them again', async () => {
    const { server, database, desired, replica, reconciler } = await startWorld(ovnNorthbound);
    const old = schemaJson(ovnNorthbound as unknown as DatabaseModel) as {
      tables: Record<string, { columns: Record<string, unknown> } | undefined>;
    };
    delete old.tables['DHCP_Options']?.columns['external_ids'];
    server.options = { schema: () => old };
    await reconnected(server, replica);
    desired.set('dhcp', { rows: [{ table: 'DHCP_Options', key: 'd', columns: { cidr: '10.0.0.0/24' } }] });
    desired.set('net', SWITCH);
    await expect(reconciler.whenDone('dhcp')).rejects.toMatchObject({ code: 'ERR_OVSDB_INVALID' });
    await reconciler.whenDone('net');
    expect(database.rows('DHCP_Options')).toEqual([]);
    server.options = {};
    await reconnected(server, replica);
    await reconciler.whenIdle();
    expect(reconciler.status('dhcp').kind).toBe('done');
    expect(database.rows('DHCP_Options')).toHaveLength(1);
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
    expect(reconciler.status('bad')).toMatchObject({ kind: 'failed', code: 'ERR_OVSDB_PLAN' });
  });
});
