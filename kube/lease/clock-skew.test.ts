/**
 * Candidates whose clocks show different times, run at other speeds and are set while they lead: never two that may write.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import { createFakeClock, type FakeClock } from '../../base/testing/fake-clock.ts';
import { createEmbeddedCluster } from '../embedded/cluster.ts';
import { KubeError } from '../errors.ts';
import type { KubeClient } from '../types.ts';
import { runLeaderElection } from './leader-election.ts';

const MINUTE_MS = 60_000;

interface SkewedClock extends Clock {
  /** Somebody sets the clock: what it says jumps, what passes does not. */
  set(byMs: number): void;
}

/** @param rate seconds of this clock in one of the world's */
const skewed = (world: FakeClock, offsetMs: number, rate: number): SkewedClock => {
  let offset = offsetMs;
  return {
    monotonic: () => world.monotonic() * rate,
    wall: () => world.wall() + offset,
    schedule: (milliseconds, callback) => world.schedule(milliseconds / rate, callback),
    set: (byMs) => {
      offset += byMs;
    },
  };
};

const candidate = (world: FakeClock, server: KubeClient, identity: string, clock: SkewedClock) => {
  const stop = new AbortController();
  const state = { isCut: false, isHeld: (): boolean => false };
  const guarded =
    <P extends unknown[], R>(call: (...parameters: P) => Promise<R>) =>
    async (...parameters: P): Promise<R> => {
      if (state.isCut) throw new KubeError('ERR_KUBE_NETWORK', 'unreachable');
      return await call(...parameters);
    };
  const running = runLeaderElection(
    {
      client: { get: guarded(server.get), create: guarded(server.create), update: guarded(server.update) },
      namespace: 'kube-system',
      name: 'udn-cluster-manager',
      identity,
      clock,
      random: () => (world.monotonic() % 10) / 10,
      lead: (signal, isHeld) => {
        state.isHeld = isHeld;
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    },
    stop.signal,
  );
  const end = async (): Promise<void> => {
    stop.abort();
    await running.catch(() => {});
  };
  return { clock, state, end };
};

const who = fc.nat(2);
const step = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('heal' as const), who }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      who,
      by: fc.integer({ min: -30 * MINUTE_MS, max: 30 * MINUTE_MS }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 25 }) }),
  },
);
/** Minutes apart, and a hundredth faster or slower: more than any quartz. */
const clocks = fc.array(
  fc.record({
    offset: fc.integer({ min: -30 * MINUTE_MS, max: 30 * MINUTE_MS }),
    rate: fc.constantFrom(0.99, 1, 1.01),
  }),
  { minLength: 3, maxLength: 3 },
);

const RUNS = 40;
const IN_STEP = [0, 1, 2].map(() => ({ offset: 0, rate: 1 as const }));
const wait = { do: 'wait' as const, seconds: 25 };
/** Only the third can lead, and then only the others: chance alone may never cut off who leads. */
const HANDED_OVER = [
  ...[0, 1].map((one) => ({ do: 'cut' as const, who: one })),
  ...[wait, wait],
  ...[0, 1].map((one) => ({ do: 'heal' as const, who: one })),
  { do: 'cut' as const, who: 2 },
  ...[wait, wait],
];

it('never two hold the lease, whatever their clocks say, and in the end one does', { timeout: 120_000 }, async () => {
  let changes = 0;
  await fc.assert(
    fc.asyncProperty(clocks, fc.array(step, { minLength: 5, maxLength: 20 }), async (times, steps) => {
      const world = createFakeClock();
      const server = createEmbeddedCluster({ clock: world }).client();
      const all = times.map(({ offset, rate }, n) => candidate(world, server, `c${n}`, skewed(world, offset, rate)));
      let leader = -1;
      const pass = async (seconds: number): Promise<void> => {
        for (let n = 0; n < seconds * 4; n += 1) {
          await world.advance(250);
          const holders = all.flatMap(({ state }, at) => (state.isHeld() ? [at] : []));
          expect(holders.length).toBeLessThanOrEqual(1);
          const [holder = leader] = holders;
          if (holder !== leader) changes += 1;
          leader = holder;
        }
      };
      await pass(1);
      for (const one of steps) {
        if (one.do === 'wait') await pass(one.seconds);
        else if (one.do === 'set') all[one.who]?.clock.set(one.by);
        else Object.assign(all[one.who]?.state ?? {}, { isCut: one.do === 'cut' });
      }
      for (const { state } of all) state.isCut = false;
      await pass(60);
      expect(all.filter(({ state }) => state.isHeld())).toHaveLength(1);
      const ended = Promise.all(all.map(({ end }) => end()));
      await world.advance(10_000);
      await ended;
    }),
    { numRuns: RUNS, examples: [[IN_STEP, HANDED_OVER]] },
  );
  // More than the first of each run: otherwise nothing would be shown.
  expect(changes).toBeGreaterThan(RUNS);
});
