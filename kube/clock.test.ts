import { describe, expect, it } from 'vitest';
import { backoffMs } from './backoff.ts';
import { delay, systemClock } from './clock.ts';
import { createFakeClock } from './fake-clock.ts';

describe('a fake clock', () => {
  it('calls timers in the order in which they fall due', async () => {
    const clock = createFakeClock(1000);
    const called: string[] = [];
    clock.schedule(20, () => called.push('late'));
    clock.schedule(10, () => {
      called.push('early');
      clock.schedule(5, () => called.push('nested'));
    });
    const cancel = clock.schedule(15, () => called.push('never'));
    cancel();
    await clock.advance(14);
    expect(called).toEqual(['early']);
    await clock.advance(6);
    expect(called).toEqual(['early', 'nested', 'late']);
    expect([clock.monotonic(), clock.wall(), clock.pending]).toEqual([20, 1020, 0]);
    expect(await clock.next()).toBe(false);
  });
});

describe('delay', () => {
  it.each([
    ['fake', createFakeClock()],
    ['system', systemClock],
  ])('ends with its signal (%s clock)', async (_, clock) => {
    const stop = new AbortController();
    const long = delay(clock, 60_000, stop.signal);
    stop.abort(new Error('enough'));
    await expect(long).rejects.toThrow('enough');
    await expect(delay(clock, 1, AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
  });

  it('ends in time', async () => {
    await delay(systemClock, 1);
    const clock = createFakeClock();
    const waiting = delay(clock, 1000);
    await clock.advance(1000);
    await waiting;
    expect(clock.pending).toBe(0);
  });
});

describe('backoff', () => {
  it('doubles up to its limit, with a random half', () => {
    const wait = (failures: number, chance: number) =>
      backoffMs({ minMs: 100, maxMs: 1000, random: () => chance }, failures);
    expect([1, 2, 3, 4, 5, 1000].map((n) => wait(n, 0))).toEqual([50, 100, 200, 400, 500, 500]);
    expect([1, 5].map((n) => wait(n, 1))).toEqual([100, 1000]);
  });
});
