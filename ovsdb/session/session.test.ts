import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { OvsdbError } from '../errors.ts';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import { Replica, type ReplicaUpdate } from '../replica/replica.ts';
import type { DatabaseModel } from '../schema/model.ts';
import { memorySession } from '../testing/memory/client.ts';
import { MemoryDatabase } from '../testing/memory/database.ts';
import { MemoryServer, schemaJson } from '../testing/memory/server.ts';
import type { Operation } from '../transact/operation.ts';
import { type Dial, dialer } from '../wire/dial.ts';
import {
  closeInTheEnd,
  insert,
  isWaiting,
  NAME,
  newServer,
  serverDatabase,
  start,
  untilState,
} from './session.suite.ts';
import { OvsdbSession } from './session.ts';

describe('OvsdbSession', () => {
  it.each([
    [['monitor', 'monitor_cond', 'monitor_cond_since'], 'monitor_cond_since'],
    [['monitor', 'monitor_cond'], 'monitor_cond'],
    [['monitor'], 'monitor'],
  ])('uses the best monitor of a server that knows %j', async (known, used) => {
    const { database, server } = newServer({ methods: ['get_schema', 'transact', ...known] });
    const { session, replica } = start(server);
    database.transact([insert('before')]);
    await replica.whenSynced();
    database.transact([insert('after')]);
    await session.transact([insert('own')]);
    expect([...replica.rows('Logical_Switch')].map(({ name }) => name).sort()).toEqual(['after', 'before', 'own']);
    expect(server.requests.filter((method) => method.startsWith('monitor')).at(-1)).toBe(used);
  });

  it('gives results, and errors with the operation that failed', async () => {
    const { session } = start(newServer().server);
    await session.whenConnected();
    const [result] = await session.transact([insert('a')]);
    expect(result?.uuid).toMatch(/^[0-9a-f-]{36}$/);
    const bad: Operation = { op: 'insert', table: 'Logical_Switch', row: { nope: 1 } };
    await expect(session.transact([insert('b'), bad, insert('c')])).rejects.toMatchObject({
      code: 'ERR_OVSDB_SYNTAX',
      error: 'unknown column',
      index: 1,
      operation: bad,
      suspects: [1],
    });
  });

  it('sends nothing while it is not connected', async () => {
    const { server } = newServer();
    const session = memorySession(server, NAME);
    closeInTheEnd(session);
    await expect(session.transact([])).rejects.toMatchObject({ code: 'ERR_OVSDB_NOT_CONNECTED' });
  });

  it('does not know the outcome of a transaction when the connection ends', async () => {
    const { database, server } = newServer({ dieAfter: (method) => method === 'transact' });
    const { session, replica } = start(server);
    await replica.whenSynced();
    await expect(session.transact([insert('a')])).rejects.toMatchObject({
      code: 'ERR_OVSDB_OUTCOME_UNKNOWN',
      cause: { code: 'ERR_OVSDB_CONNECTION_LOST' },
    });
    expect(database.rows('Logical_Switch')).toHaveLength(1);
    await replica.waitFor('Logical_Switch', { uuid: database.rows('Logical_Switch')[0]?._uuid as never }, () => true);
    expect(replica.size('Logical_Switch')).toBe(1);
  });

  it('cancels a transaction when its signal says so, or when it takes too long', async () => {
    const clock = createFakeClock();
    const cancelled: unknown[] = [];
    const { server } = newServer({
      swallow: (method, params) => {
        if (method === 'cancel') cancelled.push(params);
        return method === 'transact';
      },
    });
    const { session } = start(server, { clock, transactTimeoutMs: 1000, probeIntervalMs: 0 });
    await session.whenConnected();
    const controller = new AbortController();
    const aborted = session.transact([insert('a')], controller.signal);
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toMatchObject({ code: 'ERR_OVSDB_OUTCOME_UNKNOWN', cause: new Error('enough') });
    const late = session.transact([insert('a')]);
    clock.pass(1000);
    await expect(late).rejects.toMatchObject({
      code: 'ERR_OVSDB_OUTCOME_UNKNOWN',
      cause: { code: 'ERR_OVSDB_TIMEOUT' },
    });
    await new Promise(setImmediate);
    expect(cancelled).toHaveLength(2);
  });

  it('comes back after a server has gone, with everything that has changed', async () => {
    const { database, server } = newServer();
    const { session, replica, states } = start(server);
    await replica.whenSynced();
    const lost = untilState(session, ({ kind }) => kind === 'waiting');
    server.listening = false;
    server.disconnect();
    await lost;
    expect(replica.synced).toBe(false);
    database.transact([insert('a')]);
    server.listening = true;
    await replica.whenSynced();
    expect(replica.size('Logical_Switch')).toBe(1);
    expect(states.map(({ kind }) => kind)).toContain('waiting');
  });

  it('goes on after the last transaction that it has seen, and restarts with a server that has more columns', async () => {
    const older = schemaJson(ovnNorthbound as unknown as DatabaseModel) as {
      tables: Record<string, { columns: Record<string, unknown> } | undefined>;
    };
    delete older.tables['Logical_Switch']?.columns['other_config'];
    const { database, server } = newServer({ remembers: true, schema: () => older });
    const session = memorySession(server, NAME);
    closeInTheEnd(session);
    const replica = new Replica({ model: ovnNorthbound, tables: { Logical_Switch: ['name', 'other_config'] } });
    session.mirror(replica);
    session.start();
    await replica.whenSynced();
    database.transact([insert('a'), insert('b')]);
    database.transact([
      { op: 'update', table: 'Logical_Switch', where: [], row: { other_config: ['map', [['x', 'y']]] } },
    ]);
    await session.transact([]);
    const updates: ReplicaUpdate[] = [];
    replica.onUpdate((update) => updates.push(update));
    const again = async (meanwhile: () => void): Promise<void> => {
      const synced = new Promise((resolve) => replica.onSynced((now) => now && resolve(undefined)));
      server.disconnect();
      meanwhile();
      await synced;
    };
    await again(() => {
      database.transact([{ op: 'delete', table: 'Logical_Switch', where: [['name', '==', 'a']] }]);
      database.transact([insert('c')]);
    });
    expect(updates.map(({ kind, changes }) => [kind, changes.length])).toEqual([['changed', 2]]);
    await again(() => {
      server.options = { remembers: true };
    });
    expect(updates.map(({ kind }) => kind)).toEqual(['changed', 'replaced']);
    const configs = [...replica.rows('Logical_Switch')].map((row) => [row.name, row.other_config['x']]);
    expect(configs.sort()).toEqual([
      ['b', 'y'],
      ['c', undefined],
    ]);
  });

  it('waits longer and longer while nobody answers, and less by chance', async () => {
    const clock = createFakeClock();
    const waits: number[] = [];
    const dial: Dial = () => Promise.reject(new Error('refused'));
    const session = new OvsdbSession({
      database: NAME,
      remotes: [
        { transport: 'unix', path: 'a' },
        { transport: 'unix', path: 'b' },
      ],
      dial,
      clock,
      random: () => 0.5,
      backoff: { minMs: 100, maxMs: 1000 },
    });
    closeInTheEnd(session);
    session.start();
    while (waits.length < 10) {
      const state = await untilState(session, ({ kind }) => kind === 'waiting');
      if (state.kind === 'waiting') waits.push(state.retryInMs);
      await new Promise(setImmediate);
      clock.pass(waits.at(-1) ?? 0);
    }
    expect(waits).toEqual([0, 75, 0, 150, 0, 300, 0, 600, 0, 750]);
  });

  it('comes back at once from a connection that has lasted, and not from one that has not', async () => {
    const clock = createFakeClock();
    const { server } = newServer();
    server.listening = false;
    const backoff = { minMs: 100, maxMs: 1000 };
    const { session } = start(server, { clock, probeIntervalMs: 0, random: () => 1, backoff });
    const waits: number[] = [];
    const wait = async (): Promise<void> => {
      const state = session.state.kind === 'waiting' ? session.state : await untilState(session, isWaiting);
      if (state.kind === 'waiting') waits.push(state.retryInMs);
    };
    const retry = async (): Promise<void> => {
      const next = untilState(session, ({ kind }) => kind === 'connected' || kind === 'waiting');
      clock.pass(waits.at(-1) ?? 0);
      await next;
    };
    await wait();
    await retry();
    await wait();
    server.listening = true;
    await retry();
    server.disconnect();
    await wait();
    await retry();
    clock.pass(1000);
    server.listening = false;
    server.disconnect();
    await untilState(session, isWaiting);
    await wait();
    await retry();
    await wait();
    expect(waits).toEqual([100, 200, 400, 0, 100]);
  });

  it('uses only the leader when its options say so, and leaves it when it is one no longer', async () => {
    const follower = serverDatabase({ leader: false });
    const leader = serverDatabase({ leader: true });
    const data = new MemoryDatabase(ovnNorthbound);
    const servers = { follower: new MemoryServer([data, follower]), leader: new MemoryServer([data, leader]) };
    const used: string[] = [];
    const dial: Dial = (remote, signal) => {
      const name = remote.transport === 'unix' && remote.path === 'leader' ? 'leader' : 'follower';
      used.push(name);
      return servers[name].dial(remote, signal);
    };
    const { session, replica } = start(servers.follower, {
      dial,
      leaderOnly: true,
      remotes: [
        { transport: 'unix', path: 'follower' },
        { transport: 'unix', path: 'leader' },
      ],
      random: () => 0.99,
    });
    await replica.whenSynced();
    expect(used).toEqual(['follower', 'leader']);
    const again = untilState(session, ({ kind }) => kind === 'connected');
    follower.transact([{ op: 'update', table: 'Database', where: [], row: { leader: true } }]);
    leader.transact([{ op: 'update', table: 'Database', where: [], row: { leader: false } }]);
    await again;
    expect(used.at(-1)).toBe('follower');
  });

  it.each([
    ['is not connected to its cluster', { connected: false }],
    ['has no database', { name: 'Other' }],
  ])('does not use a server that %s', async (reason, row) => {
    const server = new MemoryServer([new MemoryDatabase(ovnNorthbound), serverDatabase(row)]);
    const { session } = start(server);
    const state = await untilState(session, ({ kind }) => kind === 'waiting');
    expect(state).toMatchObject({
      error: { code: 'ERR_OVSDB_NOT_CONNECTED', message: expect.stringContaining(reason) },
    });
  });

  it('does not go back to a member of the cluster that has seen less', async () => {
    const cid = ['uuid', '36bef046-7da7-43a5-905a-c17899216fcb'];
    const state = serverDatabase({ cid, index: 10 });
    const server = new MemoryServer([new MemoryDatabase(ovnNorthbound), state]);
    const { session, replica } = start(server);
    await replica.whenSynced();
    const behind = untilState(session, (it) => it.kind === 'waiting' && it.error.message.includes('lags behind'));
    server.disconnect();
    state.transact([{ op: 'update', table: 'Database', where: [], row: { index: 9 } }]);
    await behind;
    state.transact([{ op: 'update', table: 'Database', where: [], row: { index: 10 } }]);
    await session.whenConnected();
  });

  it('follows already when it reports that it is connected', async () => {
    const { server } = newServer();
    const { session, replica } = start(server);
    const written = new Promise<number>((resolve) => {
      session.onState(({ kind }) => {
        if (kind === 'connected')
          void session.transact([insert('a')]).then(() => resolve(replica.size('Logical_Switch')));
      });
    });
    await expect(written).resolves.toBe(1);
  });

  it('forgets a transaction that cannot be written as JSON', async () => {
    const { server } = newServer();
    const { session } = start(server);
    await session.whenConnected();
    const bad = { op: 'comment', comment: 1n } as unknown as Operation;
    await expect(session.transact([bad])).rejects.toThrow(TypeError);
    await expect(session.transact([insert('a')])).resolves.toHaveLength(1);
  });

  it('restarts when the server cancels a monitor', async () => {
    const { server } = newServer();
    const { session, replica } = start(server);
    await replica.whenSynced();
    const again = untilState(session, ({ kind }) => kind === 'connected');
    server.notify('monitor_canceled', ['x']);
    await again;
    await replica.whenSynced();
  });

  it('ends what waits for it when it is closed', async () => {
    const { server } = newServer();
    server.listening = false;
    const { session } = start(server);
    const waiting = expect(session.whenConnected()).rejects.toMatchObject({ code: 'ERR_OVSDB_NOT_CONNECTED' });
    await session.close();
    await waiting;
    expect(session.state.kind).toBe('closed');
    await session.close();
  });

  it('gives up a server that takes the connection and says nothing', async () => {
    const clock = createFakeClock();
    const { server } = newServer({ swallow: () => true });
    const { session } = start(server, { clock, connectTimeoutMs: 500, probeIntervalMs: 0 });
    const state = untilState(session, ({ kind }) => kind === 'waiting');
    await new Promise(setImmediate);
    clock.pass(500);
    await expect(state).resolves.toMatchObject({ error: { code: 'ERR_OVSDB_TIMEOUT' } });
  });

  it('needs a remote', () => {
    expect(() => new OvsdbSession({ database: NAME, remotes: [] })).toThrow(OvsdbError);
  });
});

describe('dialer', () => {
  it('says which server could not be reached', async () => {
    const { signal } = new AbortController();
    await expect(dialer({})({ transport: 'unix', path: '/nowhere/x.sock' }, signal)).rejects.toMatchObject({
      code: 'ERR_OVSDB_NOT_CONNECTED',
      message: expect.stringContaining('unix:/nowhere/x.sock: '),
    });
    await expect(dialer({})({ transport: 'ssl', host: 'x', port: 1 }, signal)).rejects.toThrow('no certificates');
  });
});
