import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { OvsdbError } from '../../errors.ts';
import { type OvnNorthbound, ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import { Replica } from '../../replica/replica.ts';
import type { RowStore } from '../../replica/row-store.ts';
import { OvsdbSession } from '../../session/session.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { wholeReplica } from '../../testing/memory/client.ts';
import { TestServer } from '../../testing/server.ts';
import type { Operation } from '../../transact/operation.ts';
import type { Remote } from '../../wire/remote.ts';
import { disturb, disturbances, FOREIGN_ROWS, fragments, OWNER_KEY, type SeenRow } from '../convergence.suite.ts';
import { DesiredRows } from '../desired-rows.ts';
import { adoptionsOf, CLAIMED, expectFulfilled, expectUntouched, foreignRows } from '../fulfilment.suite.ts';
import { garbageUnits } from '../garbage.ts';
import { ActualRows } from '../plan/actual-rows.ts';
import { plan } from '../plan/plan.ts';
import { type DesiredFragment, rowRef } from '../types.ts';
import type { ReconcilerCounts } from './events.ts';
import type { ReconcilerOptions } from './options.ts';
import { OvsdbReconciler } from './reconciler.ts';
import { whenSettled } from './world.suite.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const openSession = (remotes: readonly Remote[]): OvsdbSession => {
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes, backoff: { minMs: 10, maxMs: 200 } });
  ends.push(() => session.close());
  session.start();
  return session;
};

const startReconciler = async (remotes: readonly Remote[], options: Partial<ReconcilerOptions<OvnNorthbound>> = {}) => {
  const session = openSession(remotes);
  const replica = wholeReplica(ovnNorthbound, OWNER_KEY);
  const desired = new DesiredRows<OvnNorthbound>();
  const reconciler = new OvsdbReconciler<OvnNorthbound>({ desired, replica, session, ownerKey: OWNER_KEY, ...options });
  ends.push(() => reconciler.stop());
  session.mirror(replica);
  await replica.whenSynced(AbortSignal.timeout(20_000));
  reconciler.start();
  return { session, replica, desired, reconciler };
};

/** Has pods written into an empty database, until all of them are done. @param onCommit may kill whom it likes */
const loadAll = async (
  remotes: readonly Remote[],
  pods: readonly string[],
  onCommit: (counts: ReconcilerCounts) => Promise<void>,
): Promise<ReconcilerCounts> => {
  const session = openSession(remotes);
  const replica = wholeReplica(ovnNorthbound, OWNER_KEY);
  const desired = new DesiredRows<OvnNorthbound>();
  const acts: Promise<void>[] = [];
  const reconciler: OvsdbReconciler<OvnNorthbound> = new OvsdbReconciler<OvnNorthbound>({
    ...{ desired, replica, session, ownerKey: OWNER_KEY, maxOperations: 100 },
    onEvent: ({ kind }) => {
      if (kind === 'committed') acts.push(onCommit(reconciler.counts));
    },
  });
  ends.push(() => reconciler.stop());
  desired.set('net', network);
  for (const name of pods) desired.set(`pod/${name}`, pod(name));
  session.mirror(replica);
  await replica.whenSynced(AbortSignal.timeout(20_000));
  reconciler.start();
  reconciler.allowPrune();
  await Promise.all(pods.map((name) => reconciler.whenDone(`pod/${name}`, AbortSignal.timeout(30_000))));
  await Promise.all(acts);
  expect(reconciler.problems()).toEqual([]);
  expect(reconciler.counts.driftRepairs).toBe(0);
  return reconciler.counts;
};

/** Another client, which sees the same. */
const openObserver = async (remotes: readonly Remote[]) => {
  const session = openSession(remotes);
  const tables = {
    Logical_Switch: ['name', 'ports'],
    Logical_Switch_Port: ['name'],
    Port_Group: ['name', 'ports'],
  } as const;
  const replica = new Replica({ model: ovnNorthbound, tables });
  session.mirror(replica);
  await replica.whenSynced(AbortSignal.timeout(20_000));
  return { session, replica };
};

const network: DesiredFragment<OvnNorthbound> = {
  rows: [
    { table: 'Logical_Switch', key: 's', columns: { name: 's', ports: [] } },
    { table: 'Port_Group', key: 'pg', columns: { name: 'pg' } },
  ],
};
const pod = (name: string): DesiredFragment<OvnNorthbound> => ({
  rows: [{ table: 'Logical_Switch_Port', key: name, columns: { name, addresses: [name] } }],
  members: [
    { table: 'Logical_Switch', row: 's', column: 'ports', value: rowRef(name) },
    { table: 'Port_Group', row: 'pg', column: 'ports', value: rowRef(name) },
  ],
});
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);

const rowsOf = ({ store }: { readonly store: RowStore }): SeenRow[] =>
  Object.keys(ovnNorthbound.tables)
    .flatMap((table) => [...store.rows(table)].map(({ _uuid: uuid, ...columns }) => ({ table, uuid, columns })))
    .map(({ columns, ...row }) => ({ ...row, columns: inOrder(columns) }))
    .sort((a, b) => (a.uuid < b.uuid ? -1 : 1));

/** The order of a set's elements means nothing. */
const inOrder = (columns: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [name, Array.isArray(value) ? value.toSorted() : value]),
  );

/** What hangs fails where it does. */
const patience = (): AbortSignal => AbortSignal.timeout(20_000);

/** A transaction of nothing: what was there before it has been told. */
const untilAnswered = async (session: Pick<OvsdbSession, 'transact' | 'whenConnected'>): Promise<void> => {
  for (;;) {
    await session.whenConnected(patience());
    try {
      await session.transact([], patience());
      return;
    } catch (error) {
      if (!(error instanceof OvsdbError)) throw error;
    }
  }
};

describe('OvsdbReconciler with ovsdb-server', () => {
  it('reaches random wishes from random contents, and repairs what somebody else does', async () => {
    await using server = await TestServer.create(['ovn-northbound']);
    const { session, replica, desired, reconciler } = await startReconciler([server.remote], {
      claimed: CLAIMED,
      maxOperations: 5,
      maxRepairs: Number.POSITIVE_INFINITY,
      retry: { minMs: 5, maxMs: 50 },
    });
    await session.transact(FOREIGN_ROWS, patience());
    reconciler.allowPrune();
    const other = openSession([server.remote]);
    await other.whenConnected(patience());
    const rows = (): SeenRow[] => rowsOf(replica);
    const observer = { session: other, replica: wholeReplica(ovnNorthbound, OWNER_KEY) };
    other.mirror(observer.replica);
    await observer.replica.whenSynced(patience());
    await fc.assert(
      fc.asyncProperty(fragments, disturbances, fc.boolean(), async (wishes, harm, kill) => {
        const before = new Set(foreignRows(rows()).map(({ uuid }) => uuid));
        for (const owner of [...desired.owners()]) if (!wishes.has(owner)) desired.delete(owner);
        for (const [owner, fragment] of wishes) desired.set(owner, fragment);
        if (kill && harm.length > 3) await server.restart();
        await other.whenConnected(patience());
        for (const it of harm) {
          const signal = patience();
          await other.transact(disturb(it, rows()), signal).catch(() => signal.throwIfAborted());
          await other.whenConnected(patience());
        }
        await Promise.all([replica.whenSynced(patience()), observer.replica.whenSynced(patience())]);
        // The replica has seen all that the other client did, also by a connection that is new.
        await untilAnswered(session);
        await replica.whenSynced(patience());
        // What somebody has only now made foreign may be under way to be changed; the next round looks at it.
        const foreign = foreignRows(rows()).filter(({ uuid }) => before.has(uuid));
        await whenSettled(reconciler, patience());
        const untyped = desired as unknown as DesiredRows;
        const actual = new ActualRows({ store: replica.store, ownerKey: OWNER_KEY, adoptions: adoptionsOf(rows()) });
        const units = [...untyped.units(), ...garbageUnits(untyped, actual, CLAIMED)];
        const left = plan({ desired: untyped, actual, units });
        expect(left.operations).toEqual([]);
        expectFulfilled(untyped, rows(), left.outcomes);
        expectUntouched(foreign, rows());
        // The replica has lost nothing on its way through all the connections.
        await observer.session.transact([], patience());
        expect(rowsOf(observer.replica)).toEqual(rowsOf(replica));
      }),
      // What went before decides, too: the report of a run has to say what was wrong.
      // What hangs would hang again and again while a smaller example is looked for, until the whole test has no time left.
      { numRuns: 100, includeErrorInReport: true, endOnFailure: true },
    );
    // A hundred rounds with dozens of restarts take 12 s, and 60 s where ten others want the same processor.
  }, 240_000);

  it('loses nothing and does nothing twice while the server is killed again and again', async () => {
    await using server = await TestServer.create(['ovn-northbound']);
    const { desired, reconciler } = await startReconciler([server.remote], { maxOperations: 20 });
    desired.set('net', network);
    const names = numbered(600);
    for (const [index, name] of names.entries()) {
      desired.set(`pod/${name}`, pod(name));
      if (index % 100 === 50) await server.restart();
      else if (index % 10 === 0) await new Promise(setImmediate);
    }
    await Promise.all(names.map((name) => reconciler.whenDone(`pod/${name}`, AbortSignal.timeout(30_000))));
    const { replica } = await openObserver([server.remote]);
    expect([...replica.rows('Logical_Switch_Port')].map(({ name }) => name).sort()).toEqual([...names].sort());
    expect([...replica.rows('Logical_Switch')].map(({ ports }) => ports.length)).toEqual([600]);
    expect([...replica.rows('Port_Group')].map(({ ports }) => ports.length)).toEqual([600]);
    expect(reconciler.problems()).toEqual([]);
  });

  it('loses nothing and does nothing twice while the leader of a cluster is killed', async () => {
    await using cluster = await TestCluster.create('ovn-northbound', 'OVN_Northbound', 3);
    const { desired, reconciler } = await startReconciler(cluster.remotes, { maxOperations: 10 });
    desired.set('net', network);
    const names = numbered(150);
    for (const [index, name] of names.entries()) {
      desired.set(`pod/${name}`, pod(name));
      if (index % 5 === 0) await new Promise(setImmediate);
      if (index === 75) {
        const leader = await cluster.leader();
        await leader?.kill();
        await leader?.start();
      }
    }
    await Promise.all(names.map((name) => reconciler.whenDone(`pod/${name}`, AbortSignal.timeout(30_000))));
    const { replica } = await openObserver(cluster.remotes);
    await replica.waitFor('Port_Group', { index: 'name', key: 'pg' }, ({ ports }) => ports.length === 150);
    expect(replica.size('Logical_Switch')).toBe(1);
    expect(replica.size('Logical_Switch_Port')).toBe(150);
  });

  const loadOne = async (isKilled: boolean): Promise<number> => {
    await using server = await TestServer.create(['ovn-northbound']);
    const names = numbered(2_000);
    const { failures } = await loadAll([server.remote], names, async ({ transactions }) => {
      if (isKilled && transactions === 1) await server.restart();
    });
    const { replica } = await openObserver([server.remote]);
    expect([...replica.rows('Logical_Switch_Port')].map(({ name }) => name).sort()).toEqual([...names].sort());
    expect([...replica.rows('Logical_Switch')].map(({ ports }) => ports.length)).toEqual([2_000]);
    expect([...replica.rows('Port_Group')].map(({ ports }) => ports.length)).toEqual([2_000]);
    return failures;
  };

  it('loads an empty database in bulk, and goes on by the ordinary path when its server is killed meanwhile', async () => {
    expect(await loadOne(false)).toBe(0);
    // A server that is fast has often answered all that is under way when its first answer is read.
    let killed = 0;
    for (let tries = 0; killed === 0 && tries < 20; tries++) killed = await loadOne(true);
    expect(killed).toBeGreaterThan(0);
  });

  it('loads an empty cluster in bulk, whose leader is killed meanwhile', async () => {
    await using cluster = await TestCluster.create('ovn-northbound', 'OVN_Northbound', 3);
    const names = numbered(1_000);
    await loadAll(cluster.remotes, names, async ({ transactions }) => {
      if (transactions !== 3) return;
      const leader = await cluster.leader();
      await leader?.kill();
      await leader?.start();
    });
    const { replica } = await openObserver(cluster.remotes);
    await replica.waitFor('Port_Group', { index: 'name', key: 'pg' }, ({ ports }) => ports.length === 1_000);
    expect(replica.size('Logical_Switch')).toBe(1);
    expect(replica.size('Logical_Switch_Port')).toBe(1_000);
  });

  it('agrees with another instance that wants the same at the same time', async () => {
    await using server = await TestServer.create(['ovn-northbound']);
    const one = await startReconciler([server.remote]);
    const two = await startReconciler([server.remote]);
    for (const { desired, reconciler } of [one, two]) {
      reconciler.allowPrune();
      desired.set('net', network);
      for (const name of numbered(20)) desired.set(name, pod(name));
    }
    const { session, replica } = await openObserver([server.remote]);
    for (let round = 0; round < 10; round++) {
      await Promise.all([one, two].map(({ reconciler }) => reconciler.whenIdle(AbortSignal.timeout(20_000))));
      await session.transact([]);
      await one.session.transact([]);
      await two.session.transact([]);
    }
    expect([...replica.rows('Logical_Switch')].map(({ name, ports }) => [name, ports.length])).toEqual([['s', 20]]);
    expect(replica.size('Logical_Switch_Port')).toBe(20);
  });

  it('writes nothing when it starts again with the same wishes', async () => {
    await using server = await TestServer.create(['ovn-northbound']);
    const first = await startReconciler([server.remote]);
    const want = (desired: DesiredRows<OvnNorthbound>): void => {
      desired.set('net', network);
      for (const name of numbered(50)) desired.set(name, pod(name));
    };
    want(first.desired);
    await first.reconciler.whenIdle();
    await first.reconciler.stop();
    const second = await startReconciler([server.remote]);
    const changes: unknown[] = [];
    second.replica.onUpdate((update) => changes.push(update));
    want(second.desired);
    second.reconciler.allowPrune();
    await second.reconciler.whenIdle();
    expect(second.reconciler.counts).toMatchObject({ transactions: 0, failures: 0 });
    expect(changes).toEqual([]);
    const row: Operation = { op: 'delete', table: 'Logical_Switch', where: [] };
    await first.session.transact([row]);
    await second.session.transact([]);
    await second.reconciler.whenIdle();
    expect(second.reconciler.problems()).toEqual([]);
    expect(second.replica.size('Logical_Switch_Port')).toBe(50);
  });
});
