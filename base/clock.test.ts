import { describe, expect, it } from 'vitest';
import { delay, systemClock } from './clock.ts';
import { createFakeClock } from './testing/fake-clock.ts';

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

  it('passes at once where nothing waits for promises', () => {
    const clock = createFakeClock();
    const called: number[] = [];
    clock.schedule(10, () => clock.schedule(5, () => called.push(clock.monotonic())));
    clock.pass(20);
    expect([called, clock.monotonic(), clock.pending]).toEqual([[15], 20, 0]);
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
