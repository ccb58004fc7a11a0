import { expect, it } from 'vitest';
import { createFakeClock } from '../base/testing/fake-clock.ts';
import { KubeError } from './errors.ts';
import { createOutage, isAway } from './outage.ts';

const LONG = 1_000_000;

/** Waiters by name, and when each of them was let go. */
const setup = (random = () => 0) => {
  const clock = createFakeClock();
  const outage = createOutage({ clock, random });
  const ended: string[] = [];
  const wait = (name: string, atMostMs = LONG, signal?: AbortSignal): void => {
    const started = clock.monotonic();
    void outage.wait(atMostMs, signal).then(() => ended.push(`${name} after ${clock.monotonic() - started}`));
  };
  return { clock, outage, ended, wait };
};

it('one after the other tries, soon each second, and no more at once', async () => {
  const { clock, ended, wait } = setup(() => 1);
  for (const name of ['a', 'b', 'c', 'd', 'e']) wait(name);
  await clock.advance(250);
  expect(ended).toEqual(['a after 250']);
  await clock.advance(500);
  expect(ended).toEqual(['a after 250', 'b after 750']);
  await clock.advance(3000);
  expect(ended.slice(2)).toEqual(['c after 1750', 'd after 2750', 'e after 3750']);
}, 10_000);

it('an answer wakes all others, each at a moment of its own within half a second', async () => {
  const moments = [0, 0, 0.2, 0.9];
  const { clock, outage, ended, wait } = setup(() => moments.shift() ?? 0);
  for (const name of ['a', 'b', 'c', 'd']) wait(name);
  await clock.advance(125);
  expect(ended).toEqual(['a after 125']);
  outage.answered();
  await clock.advance(500);
  expect(ended.slice(1)).toEqual(['d after 125', 'b after 225', 'c after 575']);
});

it('nobody waits longer than it would alone', async () => {
  const { clock, ended, wait } = setup();
  wait('a', 50);
  wait('b', LONG);
  await clock.advance(50);
  expect(ended).toEqual(['a after 50']);
  await clock.advance(75);
  expect(ended).toEqual(['a after 50', 'b after 125']);
});

it('who gives up takes no turn, and no timer stays', async () => {
  const { clock, outage, ended, wait } = setup();
  const stop = new AbortController();
  wait('a', LONG, stop.signal);
  wait('b');
  stop.abort();
  await clock.advance(125);
  expect(ended).toEqual(['a after 0', 'b after 125']);
  wait('c', LONG, stop.signal);
  outage.answered();
  await clock.advance(LONG);
  expect(ended).toEqual(['a after 0', 'b after 125', 'c after 0']);
});

it('who begins to wait after an answer tries soon', async () => {
  const { clock, outage, ended, wait } = setup();
  for (let round = 0; round < 6; round += 1) {
    wait(`${round}`);
    await clock.advance(500);
  }
  outage.answered();
  wait('later');
  await clock.advance(125);
  expect(ended.at(-1)).toBe('later after 125');
});

it.each([
  ['a connection that is refused or lost', new KubeError('ERR_KUBE_NETWORK', 'refused'), true],
  ['overload', new KubeError('ERR_KUBE_STATUS', 'slow', { status: 429 }), false],
  ['a server that is slow', new KubeError('ERR_KUBE_TIMEOUT', 'slow'), false],
  ['another error', new Error('other'), false],
])('%s', (_, error, away) => expect(isAway(error)).toBe(away));

it('a server that answers nobody in time is away until it answers', async () => {
  const { clock, outage } = setup();
  const late = new KubeError('ERR_KUBE_TIMEOUT', 'no complete answer within 30000 ms');
  outage.answered();
  await clock.advance(19_000);
  outage.answered(late);
  expect(outage.since).toBeUndefined();
  await clock.advance(11_000);
  outage.answered(late);
  const since = clock.wall();
  await clock.advance(30_000);
  outage.answered(late);
  expect([outage.since, outage.endedAt]).toEqual([since, undefined]);
  outage.answered();
  expect([outage.since, outage.endedAt]).toEqual([undefined, clock.wall()]);
});

it('remembers since when the server has not known who asks, until it does', () => {
  const { clock, outage } = setup();
  const denied = new KubeError('ERR_KUBE_STATUS', 'Unauthorized', { status: 401 });
  const start = clock.wall();
  outage.answered(denied);
  outage.answered(denied);
  expect(outage.unauthorizedSince).toBe(start);
  outage.answered(new KubeError('ERR_KUBE_STATUS', 'not found', { status: 404 }));
  expect(outage.unauthorizedSince).toBeUndefined();
});
