import { expect, it } from 'vitest';
import { delay } from '../../base/clock.ts';
import { createOutage } from '../outage.ts';
import type { KubeClient } from '../types.ts';
import { arrive, bench, kinds, remove, reset, start, status, useBench, write } from './bench.suite.ts';

useBench();

it('a lost connection goes on from where it was', async () => {
  bench.faulty.watches.push({ afterBytes: 1, fails: reset() });
  await start();
  await write('a', '1');
  await write('b', '2');
  await bench.clock.advance(1000);
  expect(bench.changes).toEqual(['added default/a  1', 'added default/b  2']);
  expect(bench.faulty.calls.filter((call) => call === 'list')).toHaveLength(1);
});

it('a line of garbage is not an event and loses none', async () => {
  bench.faulty.watches.push({ afterBytes: 0, send: '{"type":"ADDED","object":{"metadata":\n' });
  bench.faulty.watches.push({ afterBytes: 0, send: '{"type":"ADDED","object":{"kind":"ConfigMap"}}\n' });
  bench.faulty.watches.push({ afterBytes: 0, send: '{"type":"NONSENSE","object":{}}\n' });
  await start();
  await write('a', '1');
  await bench.clock.advance(10_000);
  expect(bench.changes).toEqual(['added default/a  1']);
  expect(kinds().filter((kind) => kind === 'failed')).toHaveLength(3);
  expect(bench.faulty.calls.filter((call) => call === 'list')).toHaveLength(1);
});

it('a stream that is cut within a line loses nothing', async () => {
  bench.faulty.watches.push({ afterBytes: 30 });
  await start();
  await write('a', '1');
  await bench.clock.advance(1000);
  expect(bench.changes).toEqual(['added default/a  1']);
  expect(kinds()).toContain('failed');
});

it('silence ends a watch', async () => {
  bench.faulty.watches.push({ afterBytes: 0, silence: true });
  const reflector = await start({ timings: { idleMs: 90_000 } });
  await write('a', '1');
  await bench.clock.advance(89_000);
  expect(bench.changes).toEqual([]);
  expect(reflector.silenceMs()).toBe(89_000);
  await bench.clock.advance(2000);
  expect(bench.changes).toEqual(['added default/a  1']);
  expect(bench.observed).toContainEqual({ kind: 'watch-ended', reason: 'idle' });
  expect(reflector.silenceMs()).toBeLessThan(2000);
});

it('bookmarks keep a quiet watch alive and its version fresh', async () => {
  await start({ labelSelector: 'mine' });
  await write('other', '1');
  await bench.clock.advance(230_000);
  expect(kinds()).toEqual(['listed', 'watch-started']);
  expect(bench.observed).toContainEqual({ kind: 'event', type: 'bookmark' });
  bench.cluster.compact();
  bench.cluster.disconnectWatches();
  await bench.clock.advance(100);
  expect(bench.faulty.calls.filter((call) => call === 'list')).toHaveLength(1);
});

it('an expired version is read again, and only the difference is reported', async () => {
  await write('a', '1');
  await write('b', '2');
  await write('same', '0');
  // The stream is lost, and so is the history of what happens meanwhile.
  bench.faulty.watches.push({ afterBytes: 0, fails: reset() });
  const reflector = await start();
  await remove('a');
  await write('b', '3');
  await write('c', '4');
  bench.cluster.compact();
  bench.changes.length = 0;
  await bench.clock.advance(1000);
  expect(bench.changes.sort()).toEqual(['added default/c  4', 'deleted default/a 1', 'updated default/b 2 3']);
  expect(kinds()).toContain('relist');
  expect(reflector.synced).toBe(true);
});

it('an expired version may also be refused with a status', async () => {
  bench.faulty.watches.push({ throw: status(410) });
  await start();
  await write('a', '1');
  await bench.clock.advance(1000);
  expect(bench.changes).toEqual(['added default/a  1']);
  expect(bench.faulty.calls.filter((call) => call === 'list')).toHaveLength(2);
});

it('a server that always says expired is not asked in a tight loop', async () => {
  for (let i = 0; i < 100; i += 1) bench.faulty.watches.push({ throw: status(410) });
  await start();
  await bench.clock.advance(60_000);
  expect(bench.faulty.calls.filter((call) => call === 'list').length).toBeLessThan(12);
});

it('a server that ends watches at once is not asked in a tight loop', async () => {
  for (let i = 0; i < 100; i += 1) bench.faulty.watches.push({ afterBytes: 0 });
  await start();
  await bench.clock.advance(60_000);
  expect(bench.faulty.calls.filter((call) => call.startsWith('watch')).length).toBeLessThan(12);
});

it('a list that expires between two pages is read in one piece', async () => {
  for (const name of ['a', 'b', 'c']) await write(name, '1');
  bench.faulty.lists.push(undefined, { throw: status(410) });
  const reflector = await start({ timings: { pageSize: 1 } });
  expect(reflector.size).toBe(3);
  expect(bench.faulty.calls.filter((call) => call.startsWith('list'))).toEqual(['list', 'list more', 'list']);
});

it('overload is waited out as the server asks', async () => {
  bench.faulty.lists.push({ throw: status(429, 7000) });
  const reflector = await start();
  await bench.clock.advance(6900);
  expect(reflector.synced).toBe(false);
  await bench.clock.advance(200);
  expect(reflector.synced).toBe(true);
  bench.faulty.watches.push({ throw: status(429, 5000) });
  bench.cluster.disconnectWatches();
  await arrive();
  await write('a', '1');
  await bench.clock.advance(4900);
  expect(bench.changes).toEqual([]);
  await bench.clock.advance(600);
  expect(bench.changes).toEqual(['added default/a  1']);
});

it('the waiting times grow up to a limit', async () => {
  for (let i = 0; i < 12; i += 1) bench.faulty.lists.push({ throw: status(500) });
  const reflector = await start({ timings: { backoffMinMs: 1000, backoffMaxMs: 8000 } });
  while (!reflector.synced) await bench.clock.next();
  const waits = bench.observed.flatMap((seen) => (seen.kind === 'failed' ? [seen.retryInMs] : []));
  expect(waits).toEqual([500, 1000, 2000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000]);
});

it('the same failure again and again leads to a new list', async () => {
  for (let i = 0; i < 5; i += 1) bench.faulty.watches.push({ throw: status(500) });
  await start();
  await bench.clock.advance(120_000);
  expect(bench.faulty.calls.filter((call) => call === 'list')).toHaveLength(2);
});

it.each([
  ['is away', reset],
  ['is overloaded', () => status(429)],
])('a server that %s for long is not asked for a list again', async (_, fault) => {
  await write('a', '1');
  for (let i = 0; i < 15; i += 1) bench.faulty.watches.push({ throw: fault() });
  await start();
  await write('a', '2');
  await remove('a');
  await write('b', '1');
  await bench.clock.advance(600_000);
  expect(bench.changes.at(-1)).toBe('added default/b  1');
  expect(bench.faulty.calls.filter((call) => call === 'list')).toHaveLength(1);
});

it('connections that are lost now and then do not add up', async () => {
  const after = () => delay(bench.clock, 10_000);
  for (let i = 0; i < 10; i += 1) bench.faulty.watches.push({ afterBytes: 0, after, fails: reset() });
  await start({ timings: { backoffMinMs: 1000 } });
  await bench.clock.advance(110_000);
  const waits = bench.observed.flatMap((seen) => (seen.kind === 'failed' ? [seen.retryInMs] : []));
  expect(waits).toEqual(Array.from({ length: 10 }, () => 500));
  expect(bench.faulty.calls.filter((call) => call === 'list')).toHaveLength(1);
});

it('events that come twice are reported once', async () => {
  bench.faulty.watches.push({ duplicate: true });
  await start();
  await write('a', '1');
  await write('a', '2');
  await remove('a');
  await write('b', '1');
  await arrive();
  expect(bench.changes.filter((change) => change.includes('default/b'))).toEqual(['added default/b  1']);
  expect(bench.changes.filter((change) => change.startsWith('deleted'))).toEqual(['deleted default/a 2']);
});

it('bytes may be cut anywhere', async () => {
  bench.faulty.watches.push({ pieces: 1 });
  await start();
  await write('a', 'grüße 🙂');
  await arrive();
  expect(bench.changes).toEqual(['added default/a  grüße 🙂']);
});

it('a server that ends a watch in order is asked at once', async () => {
  await start({ timings: { watchMinSeconds: 100, watchMaxSeconds: 100 } });
  await bench.clock.advance(100_000);
  await write('a', '1');
  await arrive();
  expect(bench.changes).toEqual(['added default/a  1']);
  expect(bench.observed).toContainEqual({ kind: 'watch-ended', reason: 'closed' });
});

it('mirrors of a server that was away for long are all back soon after the first of them', async () => {
  const outage = createOutage({ clock: bench.clock, random: () => 0.999 });
  const refuse = { throw: reset() };
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  let isAway = true;
  const client: Pick<KubeClient, 'list' | 'watch' | 'request'> = {
    ...bench.client,
    list: (...args) => (isAway ? Promise.reject(refuse.throw) : bench.client.list(...args)),
  };
  const mirrors = await Promise.all(names.map(() => start({ client, outage, random: () => 0.999 })));
  const tries = (): number => bench.observed.filter(({ kind }) => kind === 'failed').length;
  await bench.clock.advance(60_000);
  const before = tries();
  await bench.clock.advance(60_000);
  // One each second by turns, and each of them now and then by itself.
  expect(tries() - before).toBeLessThan(80);
  isAway = false;
  await bench.clock.advance(1_600);
  expect(mirrors.map(({ synced }) => synced)).toEqual(names.map(() => true));
});

it('a server that accepts watches and loses them is not asked more often for it', async () => {
  for (let i = 0; i < 100; i += 1) bench.faulty.watches.push({ afterBytes: 0, fails: reset() });
  await start();
  await bench.clock.advance(60_000);
  expect(bench.faulty.calls.filter((call) => call.startsWith('watch')).length).toBeLessThan(12);
});
