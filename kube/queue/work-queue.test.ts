import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { WorkQueueOptions } from './types.ts';
import { createWorkQueue } from './work-queue.ts';

const bench = (options: Partial<WorkQueueOptions> = {}) => {
  const clock = createFakeClock();
  const stop = new AbortController();
  const handled: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const queue = createWorkQueue({
    handle: async (key) => {
      handled.push(key);
      await gates.get(key)?.promise;
    },
    clock,
    random: () => 0,
    ...options,
  });
  const hold = (key: string) => gates.set(key, Promise.withResolvers<void>());
  const release = (key: string) => {
    gates.get(key)?.resolve();
    gates.delete(key);
  };
  return { clock, stop, handled, queue, hold, release };
};

it('works on each key once, however often it is added', async () => {
  const { queue, stop, handled } = bench();
  for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
  expect(handled).toEqual([]);
  const running = queue.run(stop.signal);
  await queue.idle();
  expect(handled).toEqual(['a', 'b']);
  stop.abort();
  await running;
});

it('works again on a key that was added meanwhile', async () => {
  const { queue, stop, handled, hold, release, clock } = bench();
  hold('a');
  queue.add('a');
  void queue.run(stop.signal);
  await clock.advance(0);
  queue.add('a');
  queue.add('a');
  release('a');
  await queue.idle();
  expect(handled).toEqual(['a', 'a']);
});

it('goes round the lanes: who has much to be done holds up nobody else', async () => {
  const { queue, stop, handled } = bench({ laneOf: (key) => key[0] ?? '' });
  for (const key of ['a1', 'a2', 'a3', 'b1', 'c1']) queue.add(key);
  void queue.run(stop.signal);
  await queue.idle();
  expect(handled).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  stop.abort();
});

it('works on a key that is added again and again only now and then, and on the others at once', async () => {
  const { queue, stop, handled, clock } = bench({ pace: { burst: 3, refillMs: 1000 } });
  void queue.run(stop.signal);
  const addMany = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1) {
      queue.add('a');
      await clock.advance(0);
    }
  };
  await addMany(10);
  expect(handled).toEqual(['a', 'a', 'a']);
  expect(queue.counts()).toEqual({ queued: 1, working: 0, waiting: 0 });
  let isIdle = false;
  void queue.idle().then(() => {
    isIdle = true;
  });
  queue.add('b');
  await clock.advance(999);
  expect([handled, isIdle]).toEqual([['a', 'a', 'a', 'b'], false]);
  await clock.advance(1);
  expect([handled, isIdle]).toEqual([['a', 'a', 'a', 'b', 'a'], true]);
  // What is still to come when it ends is let go.
  await addMany(2);
  stop.abort();
  await clock.advance(10_000);
  expect(handled).toHaveLength(5);
});

it('works on so many keys at once, and never twice on one', async () => {
  const { queue, stop, handled, hold, release, clock } = bench({ concurrency: 2 });
  for (const key of ['a', 'b', 'c']) {
    hold(key);
    queue.add(key);
  }
  void queue.run(stop.signal);
  await clock.advance(0);
  expect(handled).toEqual(['a', 'b']);
  expect(queue.counts()).toEqual({ queued: 1, working: 2, waiting: 0 });
  queue.add('a');
  release('b');
  await clock.advance(0);
  expect(handled).toEqual(['a', 'b', 'c']);
});

it('works on no more keys of one lane than it may, and on those of others meanwhile', async () => {
  const { queue, stop, handled, hold, release, clock } = bench({
    concurrency: 3,
    laneOf: (key) => key[0] ?? '',
    perLane: 1,
  });
  for (const key of ['a1', 'a2', 'b1', 'a3']) {
    hold(key);
    queue.add(key);
  }
  void queue.run(stop.signal);
  await clock.advance(0);
  expect(handled).toEqual(['a1', 'b1']);
  expect(queue.counts()).toEqual({ queued: 2, working: 2, waiting: 0 });
  queue.add('a1');
  release('a1');
  await clock.advance(0);
  release('a2');
  await clock.advance(0);
  release('a3');
  release('b1');
  await queue.idle();
  expect(handled).toEqual(['a1', 'b1', 'a2', 'a3', 'a1']);
  stop.abort();
});

it('tries again later, and later', async () => {
  let failures = 4;
  const waits: number[] = [];
  const { queue, stop, clock } = bench({
    handle: async () => {
      if (failures-- > 0) throw new Error('not yet');
    },
    observe: (seen) => {
      if (seen.kind === 'failed') waits.push(seen.retryInMs);
    },
    backoffMinMs: 100,
    backoffMaxMs: 400,
  });
  queue.add('a');
  void queue.run(stop.signal);
  await clock.advance(10_000);
  expect(waits).toEqual([50, 100, 200, 200]);
  expect(queue.failures('a')).toBe(0);
  expect(queue.counts()).toEqual({ queued: 0, working: 0, waiting: 0 });
});

it('does not wait when there is news', async () => {
  let fail = true;
  const { queue, stop, clock } = bench({
    handle: async () => {
      if (fail) throw new Error('not yet');
    },
    backoffMinMs: 60_000,
  });
  queue.add('a');
  void queue.run(stop.signal);
  await clock.advance(0);
  expect([queue.failures('a'), queue.counts().waiting]).toEqual([1, 1]);
  fail = false;
  queue.add('a');
  await queue.idle();
  expect([queue.failures('a'), queue.counts().waiting]).toEqual([0, 0]);
});

it('comes back when it is asked to', async () => {
  const times: number[] = [];
  const { queue, stop, clock } = bench({
    handle: () => {
      times.push(clock.monotonic());
      return Promise.resolve(times.length < 3 ? { requeueAfterMs: 1000 } : undefined);
    },
  });
  queue.add('a');
  void queue.run(stop.signal);
  await clock.advance(5000);
  expect(times).toEqual([0, 1000, 2000]);
});

it('the earlier of two times counts', async () => {
  const { queue, stop, handled, clock } = bench();
  void queue.run(stop.signal);
  queue.addAfter('a', 500);
  queue.addAfter('a', 100);
  queue.addAfter('a', 900);
  await clock.advance(100);
  expect(handled).toEqual(['a']);
  await clock.advance(1000);
  expect(handled).toEqual(['a']);
});

it('a handler that throws is one that fails', async () => {
  const { queue, stop, clock } = bench({
    handle: () => {
      throw new Error('at once');
    },
  });
  queue.add('a');
  void queue.run(stop.signal);
  await clock.advance(0);
  expect(queue.failures('a')).toBe(1);
});

it('ends when what is under way has ended', async () => {
  const { queue, stop, handled, hold, release, clock } = bench();
  hold('a');
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 10);
  let ended = false;
  const running = queue.run(stop.signal).then(() => {
    ended = true;
  });
  await clock.advance(0);
  stop.abort();
  await clock.advance(0);
  expect(ended).toBe(false);
  release('a');
  await running;
  await clock.advance(100);
  expect(handled).toEqual(['a']);
  expect(queue.counts().waiting).toBe(0);
});

it('waiting for idleness can be given up', async () => {
  const { queue } = bench();
  queue.add('a');
  const impatient = new AbortController();
  const idle = queue.idle(impatient.signal);
  impatient.abort(new Error('enough'));
  await expect(idle).rejects.toThrow('enough');
});

it('every key that is added is worked on afterwards, and no key by two at once', async () => {
  const step = fc.record({ key: fc.constantFrom('a', 'b', 'c'), advance: fc.nat(30), fails: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), async (steps, concurrency) => {
      const clock = createFakeClock();
      const stop = new AbortController();
      const working = new Set<string>();
      const lastWorked = new Map<string, number>();
      const failing = new Set<string>();
      let turn = 0;
      const queue = createWorkQueue({
        clock,
        random: () => 0.5,
        concurrency,
        backoffMaxMs: 100,
        handle: async (key) => {
          expect(working.has(key)).toBe(false);
          expect(working.size).toBeLessThan(concurrency);
          working.add(key);
          lastWorked.set(key, turn);
          await new Promise<void>((resolve) => clock.schedule(7, resolve));
          working.delete(key);
          if (failing.delete(key)) throw new Error('told to');
        },
      });
      void queue.run(stop.signal);
      const lastAdded = new Map<string, number>();
      for (const { key, advance, fails } of steps) {
        turn += 1;
        if (fails) failing.add(key);
        lastAdded.set(key, turn);
        queue.add(key);
        await clock.advance(advance);
      }
      await clock.advance(10_000);
      expect(queue.counts()).toEqual({ queued: 0, working: 0, waiting: 0 });
      for (const [key, added] of lastAdded) expect(lastWorked.get(key)).toBeGreaterThanOrEqual(added);
      stop.abort();
    }),
    { numRuns: 50 },
  );
});
