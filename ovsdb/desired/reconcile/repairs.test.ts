/** What somebody breaks is back at once, however much it is; only what somebody breaks again and again waits, by itself. */
import { expect, it } from 'vitest';
import { createFakeClock } from '../../../base/testing/fake-clock.ts';
import { ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import type { MemoryDatabase } from '../../testing/memory/database.ts';
import { Repairs } from './repairs.ts';
import { type Fragment, names, pod, SWITCH, startWorld } from './world.suite.ts';

const addressSets = (...keys: readonly string[]): Fragment => ({
  rows: keys.map((name) => ({ table: 'Address_Set', key: name, columns: { name, addresses: ['10.0.0.1'] } })),
});

const deleteAll = (database: MemoryDatabase, table: string): unknown =>
  database.transact([{ op: 'delete', table, where: [] }]);

const addressesOf = (database: MemoryDatabase, name: string): unknown =>
  database.rows('Address_Set').find((row) => row['name'] === name)?.['addresses'];

/** Changes back what is written of a row, as often as it is written. */
const insist = (database: MemoryDatabase, name: string): void => {
  database.watch(() => {
    if (addressesOf(database, name) === undefined) return;
    if (JSON.stringify(addressesOf(database, name)).includes('theirs')) return;
    const where = [['name', '==', name]] as const;
    setImmediate(() =>
      database.transact([{ op: 'update', table: 'Address_Set', where: [...where], row: { addresses: 'theirs' } }]),
    );
  });
};

it('brings fifty rows of one owner back that are deleted at once, five times in a row', async () => {
  const { database, desired, reconciler, clock } = await startWorld(ovnNorthbound);
  const pods = Array.from({ length: 50 }, (_, i) => `pod-${i}`);
  desired.set('network', {
    rows: [...(SWITCH.rows ?? []), ...pods.flatMap((name) => pod(name).rows ?? [])],
    members: pods.flatMap((name) => pod(name).members ?? []),
  });
  await reconciler.whenDone('network');
  clock.pass(3_001);
  for (let burst = 0; burst < 5; burst++) {
    deleteAll(database, 'Logical_Switch');
    await reconciler.whenIdle();
    expect(names(database, 'Logical_Switch_Port')).toHaveLength(50);
    expect(reconciler.status('network').kind).toBe('done');
  }
});

it('brings them back any number of times, when they stay in between', async () => {
  const { database, desired, reconciler, clock } = await startWorld(ovnNorthbound);
  const keys = Array.from({ length: 50 }, (_, i) => `row-${i}`);
  desired.set('network', addressSets(...keys));
  await reconciler.whenDone('network');
  for (let burst = 0; burst < 20; burst++) {
    clock.pass(3_001);
    deleteAll(database, 'Address_Set');
    await reconciler.whenIdle();
    expect(names(database, 'Address_Set')).toHaveLength(50);
  }
});

it('makes only the row wait that somebody insists on, and repairs the others of its owner at once', async () => {
  const { database, desired, reconciler, clock } = await startWorld(ovnNorthbound);
  desired.set('network', addressSets('fought', 'other'));
  await reconciler.whenDone('network');
  insist(database, 'fought');
  const error = new Promise((resolve) => {
    reconciler.onStatus(({ status }) => status.kind === 'failed' && resolve(status));
  });
  database.transact([
    { op: 'update', table: 'Address_Set', where: [['name', '==', 'fought']], row: { addresses: 'theirs' } },
  ]);
  expect(await error).toMatchObject({ code: 'ERR_OVSDB_UNSETTLED', message: expect.stringContaining('fought') });
  for (let i = 0; i < 3; i++) {
    database.transact([{ op: 'delete', table: 'Address_Set', where: [['name', '==', 'other']] }]);
    await reconciler.whenIdle();
    expect(names(database, 'Address_Set')).toEqual(['fought', 'other']);
    expect(JSON.stringify(addressesOf(database, 'fought'))).toContain('theirs');
  }
  // Who wants something else is not judged by that.
  desired.set('network', addressSets('other'));
  reconciler.allowPrune();
  await reconciler.whenDone('network');
  expect([names(database, 'Address_Set'), clock.monotonic()]).toEqual([['other'], 0]);
});

it('brings the row back when it has waited, and forgets that it did when it stays', async () => {
  const { database, desired, reconciler, clock } = await startWorld(ovnNorthbound);
  desired.set('network', addressSets('row'));
  await reconciler.whenDone('network');
  const isThere = async (): Promise<boolean> => {
    await reconciler.whenIdle();
    return names(database, 'Address_Set').length > 0;
  };
  const deleted = async (): Promise<boolean> => {
    deleteAll(database, 'Address_Set');
    return isThere();
  };
  // The first of the five was that of the wish.
  for (let i = 0; i < 4; i++) expect(await deleted()).toBe(true);
  for (const ms of [250, 500, 1000]) {
    expect(await deleted()).toBe(false);
    clock.pass(ms - 1);
    expect(await isThere()).toBe(false);
    clock.pass(1);
    expect(await isThere()).toBe(true);
  }
  expect(reconciler.status('network').kind).toBe('done');
  clock.pass(3_001);
  for (let i = 0; i < 5; i++) expect(await deleted()).toBe(true);
  expect(await deleted()).toBe(false);
});

it('keeps no unit in mind that stays, and rests for a minute at most', () => {
  const clock = createFakeClock();
  const rested: string[] = [];
  const repairs = new Repairs({ clock, max: 1, onRested: (id) => rested.push(id) });
  for (let i = 0; i < 20; i++) {
    repairs.add('row');
    expect(repairs.isToRest('row')).toBe(true);
    expect(repairs.isToRest('row')).toBe(true);
    clock.pass(60_000);
    expect([rested.length, repairs.isToRest('row')]).toEqual([i + 1, false]);
  }
  clock.pass(3_001);
  repairs.add('another');
  clock.pass(3_001);
  repairs.add('third');
  expect([repairs.isToRest('another'), repairs.isToRest('third')]).toEqual([false, true]);
  repairs.forgive('third');
  clock.pass(60_000);
  expect([repairs.isToRest('third'), rested.length]).toEqual([false, 20]);
});
