import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import { Replica, type ReplicaUpdate } from '../replica/replica.ts';
import { makeCertificates } from '../testing/certificates.ts';
import { TestServer } from '../testing/server.ts';
import { Transaction } from '../transact/transaction.ts';
import type { TlsCredentials } from '../wire/dial.ts';
import { OvsdbSession, type SessionOptions } from './session.ts';

const open: OvsdbSession[] = [];
afterEach(async () => {
  for (const session of open.splice(0)) await session.close();
});

const connect = async (options: Pick<SessionOptions, 'remotes'> & Partial<SessionOptions>) => {
  const session = new OvsdbSession({ database: 'OVN_Northbound', ...options });
  open.push(session);
  const replica = new Replica({
    model: ovnNorthbound,
    tables: { Logical_Switch: ['name', 'ports', 'other_config'], Logical_Switch_Port: 'all', Address_Set: 'all' },
  });
  session.mirror(replica);
  session.start();
  await replica.whenSynced(AbortSignal.timeout(20_000));
  return { session, replica };
};

const insertSwitch = (name: string, ports: readonly string[] = []) => {
  const transaction = new Transaction(ovnNorthbound);
  const refs = ports.map((port) => transaction.insert('Logical_Switch_Port', { name: port, addresses: ['dynamic'] }));
  transaction.insert('Logical_Switch', { name, ports: refs });
  return transaction.operations;
};

describe('OvsdbSession with ovsdb-server', () => {
  it('has seen a transaction’s changes when its reply comes', async () => {
    await using server = await TestServer.create(['ovn-northbound']);
    const { session, replica } = await connect({ remotes: [server.remote] });
    for (let index = 0; index < 200; index++) {
      const results = await session.transact(insertSwitch(`s${index}`, [`p${index}`]));
      for (const { uuid } of results) {
        const found = uuid && (replica.get('Logical_Switch', uuid) ?? replica.get('Logical_Switch_Port', uuid));
        expect(found).toBeDefined();
      }
    }
    await session.transact(new Transaction(ovnNorthbound).delete('Logical_Switch', []).operations);
    expect([replica.size('Logical_Switch'), replica.size('Logical_Switch_Port')]).toEqual([0, 0]);
  });

  it('names what the server refuses', async () => {
    await using server = await TestServer.create(['ovn-northbound']);
    const { session } = await connect({ remotes: [server.remote] });
    const twice = new Transaction(ovnNorthbound);
    twice.insert('Logical_Switch', { name: 'fine' });
    twice.insert('Address_Set', { name: 'a' });
    twice.insert('Address_Set', { name: 'a' });
    await expect(session.transact(twice.operations)).rejects.toMatchObject({
      code: 'ERR_OVSDB_CONSTRAINT_VIOLATION',
      index: undefined,
      suspects: [1, 2],
    });
    const dangling = new Transaction(ovnNorthbound).raw({
      op: 'insert',
      table: 'Logical_Switch',
      row: { ports: ['named-uuid', 'nothing'] },
    });
    await expect(session.transact(dangling.operations)).rejects.toMatchObject({
      code: 'ERR_OVSDB_REFERENTIAL_INTEGRITY',
      suspects: [0],
    });
    const notNow = new Transaction(ovnNorthbound)
      .comment('waits for what is not so')
      .wait('Logical_Switch', [], '==', [{ name: 'x' }], { columns: ['name'], timeoutMs: 0 });
    await expect(session.transact(notNow.operations)).rejects.toMatchObject({
      code: 'ERR_OVSDB_WAIT_TIMED_OUT',
      index: 1,
    });
    await expect(session.transact([{ op: 'abort' }])).rejects.toMatchObject({ code: 'ERR_OVSDB_ABORTED' });
    await expect(session.transact([{ op: 'assert', lock: 'x' }])).rejects.toMatchObject({
      code: 'ERR_OVSDB_NOT_OWNER',
    });
    const enumeration = new Transaction(ovnNorthbound);
    enumeration.insert('ACL', { action: 'bogus' as 'drop', direction: 'to-lport', match: '', priority: 1 });
    await expect(session.transact(enumeration.operations)).rejects.toMatchObject({
      code: 'ERR_OVSDB_CONSTRAINT_VIOLATION',
      index: 0,
    });
  });

  it('can cancel a transaction that waits', async () => {
    await using server = await TestServer.create(['ovn-northbound']);
    const { session, replica } = await connect({ remotes: [server.remote] });
    const controller = new AbortController();
    const waiting = session.transact(
      [
        { op: 'wait', table: 'Logical_Switch', where: [], columns: ['name'], until: '==', rows: [{ name: 'never' }] },
        ...insertSwitch('too late'),
      ],
      controller.signal,
    );
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_OVSDB_OUTCOME_UNKNOWN' });
    await session.transact(insertSwitch('never'));
    await session.transact([]);
    expect([...replica.rows('Logical_Switch')].map(({ name }) => name)).toEqual(['never']);
  });

  it('follows through kills and restarts of the server, and emits only what has changed', async () => {
    await using server = await TestServer.create(['ovn-northbound']);
    const { session, replica } = await connect({ remotes: [server.remote] });
    const other = await connect({ remotes: [server.remote] });
    await session.transact(insertSwitch('a', ['p1', 'p2']));
    for (let round = 0; round < 3; round++) {
      const updates: ReplicaUpdate[] = [];
      const stop = replica.onUpdate((update) => updates.push(update));
      await server.restart();
      await Promise.all([replica.whenSynced(), other.replica.whenSynced()]);
      expect(updates).toEqual([]);
      await other.session.transact(insertSwitch(`b${round}`));
      await session.transact([]);
      expect(updates.flatMap(({ changes }) => changes)).toHaveLength(1);
      stop();
    }
    expect(replica.size('Logical_Switch')).toBe(4);
  });

  it('notices a server that hangs', async () => {
    await using server = await TestServer.create(['ovn-northbound']);
    const { session, replica } = await connect({ remotes: [server.remote], probeIntervalMs: 50 });
    await server.kill('SIGSTOP');
    try {
      await new Promise<void>((resolve) => {
        replica.onSynced((synced) => {
          if (!synced) resolve();
        });
      });
    } finally {
      await server.kill('SIGCONT');
    }
    await replica.whenSynced(AbortSignal.timeout(20_000));
    await session.transact(insertSwitch('after'));
    expect(replica.size('Logical_Switch')).toBe(1);
  });

  it('connects over TCP with IPv4 and IPv6', async () => {
    await using server = await TestServer.create(
      ['ovn-northbound'],
      ['--remote=ptcp:0:127.0.0.1', '--remote=ptcp:0:[::1]'],
    );
    for (const host of ['127.0.0.1', '::1']) {
      for (const port of server.ports) {
        const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: [{ transport: 'tcp', host, port }] });
        open.push(session);
        session.start();
      }
    }
    // Which port belongs to which address is not said: of the two tries with each address one succeeds.
    await Promise.any(open.slice(0, 2).map((session) => session.whenConnected()));
    await Promise.any(open.slice(2).map((session) => session.whenConnected()));
  });

  it('connects over TLS, both sides with a certificate', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ovsdb-tls-'));
    try {
      const { serverArgs, client } = await makeCertificates(folder);
      await using server = await TestServer.create(['ovn-northbound'], [...serverArgs, '--remote=pssl:0:127.0.0.1']);
      const remotes = [{ transport: 'ssl', host: '127.0.0.1', port: server.ports[0] ?? 0 }] as const;
      const { session, replica } = await connect({ remotes, tls: () => client });
      await session.transact(insertSwitch('over tls'));
      expect(replica.size('Logical_Switch')).toBe(1);

      const { client: stranger } = await makeCertificates(await mkdtemp(join(folder, 'other-')));
      const bad: readonly Partial<TlsCredentials>[] = [
        // Another authority signed the server's certificate.
        { caCertificate: stranger.caCertificate },
        // Another authority signed ours.
        { privateKey: stranger.privateKey, certificate: stranger.certificate },
        // The certificate does not say 127.0.0.1.
        { verifyHost: true },
      ];
      for (const wrong of bad) {
        let asked = 0;
        const refused = new OvsdbSession({
          database: 'OVN_Northbound',
          remotes,
          backoff: { minMs: 1, maxMs: 2 },
          // Renewed certificates are used without a restart: the second connection has the right ones.
          tls: () => (asked++ === 0 ? { ...client, ...wrong } : client),
        });
        open.push(refused);
        const error = new Promise((resolve) =>
          refused.onState((state) => state.kind === 'waiting' && resolve(state.error)),
        );
        refused.start();
        await expect(error).resolves.toMatchObject({
          code: expect.stringMatching(/^ERR_OVSDB_(NOT_CONNECTED|CONNECTION_LOST)$/),
        });
        await refused.whenConnected(AbortSignal.timeout(10_000));
        expect(asked).toBe(2);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
