import { afterEach, describe, expect, it } from 'vitest';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import { Replica, type ReplicaUpdate } from '../replica/replica.ts';
import { TestCluster } from '../testing/cluster.ts';
import type { OvsdbServerProcess } from '../testing/server.ts';
import { Transaction } from '../transact/transaction.ts';
import { formatRemote } from '../wire/remote.ts';
import { OvsdbSession, type SessionOptions } from './session.ts';

const open: OvsdbSession[] = [];
afterEach(async () => {
  for (const session of open.splice(0)) await session.close();
});

const connect = async (options: Pick<SessionOptions, 'remotes'> & Partial<SessionOptions>) => {
  const session = new OvsdbSession({ database: 'OVN_Northbound', ...options });
  open.push(session);
  const replica = new Replica({ model: ovnNorthbound, tables: { Logical_Switch: ['name'] } });
  session.mirror(replica);
  session.start();
  await replica.whenSynced(AbortSignal.timeout(20_000));
  return { session, replica };
};

const insert = (name: string) => {
  const transaction = new Transaction(ovnNorthbound);
  transaction.insert('Logical_Switch', { name });
  return transaction.operations;
};

const remoteOf = (session: OvsdbSession): string => (session.state.kind === 'connected' ? session.state.remote : '');

const others = (cluster: TestCluster, member: OvsdbServerProcess | undefined) =>
  cluster.members.filter((it) => it !== member).map(({ remote }) => remote);

describe('a clustered database', () => {
  it('lets a replica go on where it was, with another member', async () => {
    await using cluster = await TestCluster.create('ovn-northbound', 'OVN_Northbound', 3);
    const leader = await cluster.leader();
    const { session, replica } = await connect({ remotes: others(cluster, leader) });
    const writer = await connect({ remotes: [leader?.remote ?? cluster.remotes[0]].filter((it) => it !== undefined) });
    for (let index = 0; index < 20; index++) await writer.session.transact(insert(`s${index}`));
    await replica.waitFor(
      'Logical_Switch',
      { uuid: [...writer.replica.rows('Logical_Switch')].at(-1)?._uuid as never },
      () => true,
    );
    const before = remoteOf(session);
    const used = cluster.members.find(({ remote }) => formatRemote(remote) === before);
    const updates: ReplicaUpdate[] = [];
    replica.onUpdate((update) => updates.push(update));
    const lost = new Promise<void>((resolve) => {
      const stop = replica.onSynced((synced) => {
        if (synced) return;
        stop();
        resolve();
      });
    });
    await used?.kill();
    await lost;
    await writer.session.transact(insert('while away'));
    await replica.whenSynced(AbortSignal.timeout(20_000));
    const row = [...writer.replica.rows('Logical_Switch')].find(({ name }) => name === 'while away');
    await replica.waitFor('Logical_Switch', { uuid: row?._uuid as never }, () => true);
    expect(remoteOf(session)).not.toBe(before);
    // Resumed by the id of its last transaction: what it had was not sent again.
    expect(updates.map(({ kind }) => kind)).not.toContain('replaced');
    expect(updates.flatMap(({ changes }) => changes)).toHaveLength(1);
    expect(replica.size('Logical_Switch')).toBe(21);
  });

  it('is used through its leader only, also when that is another one', async () => {
    await using cluster = await TestCluster.create('ovn-northbound', 'OVN_Northbound', 3);
    const leader = await cluster.leader();
    const { session, replica } = await connect({ remotes: cluster.remotes, leaderOnly: true });
    expect(remoteOf(session)).toBe(formatRemote(leader?.remote ?? { transport: 'unix', path: '' }));
    await session.transact(insert('before'));
    const moved = new Promise<void>((resolve) => {
      const stop = session.onState(({ kind }) => {
        if (kind !== 'connected') return;
        stop();
        resolve();
      });
    });
    await leader?.kill();
    await moved;
    await replica.whenSynced(AbortSignal.timeout(20_000));
    await session.transact(insert('after'));
    const successor = await cluster.leader();
    expect(remoteOf(session)).toBe(formatRemote(successor?.remote ?? { transport: 'unix', path: '' }));
    expect([...replica.rows('Logical_Switch')].map(({ name }) => name).sort()).toEqual(['after', 'before']);
  });
});
