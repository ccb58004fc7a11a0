import { expect, it } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import type { Backend, ReconcileOutcome } from '../../datapath/backend.ts';
import { ReconcileLoop } from './reconcile-loop.ts';

/** Moved by hand; what is scheduled happens when it is asked for. */
class HandClock implements Clock {
  now = 0;
  readonly waiting = new Map<() => void, number>();
  wall = (): number => this.now;
  monotonic = (): number => this.now;
  schedule = (ms: number, callback: () => void): (() => void) => {
    this.waiting.set(callback, ms);
    return () => this.waiting.delete(callback);
  };

  ring(): void {
    const due = [...this.waiting].filter(([, ms]) => ms < 15_000).map(([callback]) => callback);
    for (const callback of due) {
      this.waiting.delete(callback);
      callback();
    }
  }
}

const DONE: ReconcileOutcome = { written: 0, failed: new Map(), waiting: new Map() };
const signal = AbortSignal.timeout(10_000);

/** @param answers what the place does, one after the other; the last one from then on */
const setup = (...answers: readonly (() => Promise<ReconcileOutcome>)[]) => {
  const clock = new HandClock();
  const left = [...answers];
  const retried: number[] = [];
  const backend: Backend<string> = {
    reconcile: () => (left.length > 1 ? left.shift() : left[0])?.() ?? Promise.resolve(DONE),
    listen: () => () => undefined,
    close: () => Promise.resolve(),
  };
  const loop = new ReconcileLoop<string>({
    keyOf: (item) => item,
    backend,
    clock,
    observe: (observation) => {
      if (observation.kind === 'retried') retried.push(observation.keys);
    },
  });
  loop.store.set('o', ['x', 'y']);
  return { clock, loop, retried };
};

it('has everything to do until everything was compared', async () => {
  const { loop } = setup();
  expect(loop.queue()).toEqual({ depth: 2, oldestMs: 0, stalledMs: 0, hasCompared: false, failing: undefined });
  loop.start();
  await loop.whenIdle(signal);
  expect(loop.queue()).toEqual({ depth: 0, oldestMs: 0, stalledMs: 0, hasCompared: true, failing: undefined });
});

it('is stalled while a place neither answers nor fails', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<ReconcileOutcome>();
  const { loop, clock } = setup(() => {
    asked.resolve();
    return answer.promise;
  });
  loop.start();
  await asked.promise;
  clock.now = 400_000;
  expect(loop.queue()).toMatchObject({ depth: 2, oldestMs: 400_000, stalledMs: 400_000, hasCompared: false });
  answer.resolve(DONE);
  await loop.whenIdle(signal);
  expect(loop.queue()).toMatchObject({ depth: 0, oldestMs: 0, stalledMs: 0, hasCompared: true });
});

it('is not stalled by a place that is away, and says since when it is', async () => {
  const away = () => Promise.reject(new Error('nobody there'));
  const { loop, clock, retried } = setup(away, away, () => Promise.resolve(DONE));
  loop.start();
  await loop.whenIdle(signal);
  clock.now = 100_000;
  const waiting = { depth: 2, oldestMs: 100_000, stalledMs: 0, hasCompared: false };
  expect(loop.queue()).toEqual({ ...waiting, failing: { forMs: 100_000, message: 'nobody there' } });
  clock.ring();
  await loop.whenIdle(signal);
  clock.now = 150_000;
  expect(loop.queue().failing).toEqual({ forMs: 150_000, message: 'nobody there' });
  clock.ring();
  await loop.whenIdle(signal);
  expect(loop.queue()).toEqual({ depth: 0, oldestMs: 0, stalledMs: 0, hasCompared: true, failing: undefined });
  expect(retried).toEqual([2, 2]);
});

it('one object that cannot be neither stalls it nor makes the place fail', async () => {
  const { loop, clock, retried } = setup(() => Promise.resolve({ ...DONE, failed: new Map([['x', 'no']]) }));
  loop.start();
  await loop.whenIdle(signal);
  clock.now = 60_000;
  const state = { depth: 1, oldestMs: 60_000, stalledMs: 0, hasCompared: true, failing: undefined };
  expect(loop.queue()).toEqual(state);
  clock.ring();
  await loop.whenIdle(signal);
  expect(retried).toEqual([1]);
});
