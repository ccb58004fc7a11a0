import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { PolicyLatency } from './policy-latency.ts';

const setUp = () => {
  const clock = createFakeClock();
  const state = { isHolding: false, depth: 0 };
  const seconds: number[] = [];
  let written = Promise.withResolvers<void>();
  const latency = new PolicyLatency({
    clock,
    isHolding: () => state.isHolding,
    northbound: {
      depth: () => state.depth,
      whenIdle: (signal) => {
        signal.addEventListener('abort', () => written.reject(signal.reason as Error));
        return written.promise;
      },
    },
    observe: (one) => seconds.push(one),
  });
  const write = async (): Promise<void> => {
    state.depth = 0;
    written.resolve();
    await clock.advance(0);
    written = Promise.withResolvers();
  };
  return { clock, state, seconds, latency, write };
};

it('is from the first change that was heard until all is written', async () => {
  const { clock, state, seconds, latency, write } = setUp();
  latency.heard();
  state.depth = 3;
  await clock.advance(200);
  latency.heard();
  await clock.advance(300);
  await write();
  // The second one was not part of it, perhaps.
  expect(seconds).toEqual([0.5]);
  state.depth = 1;
  latency.heard();
  await clock.advance(100);
  await write();
  expect(seconds).toHaveLength(2);
});

it('has the time in which a change is held in it', async () => {
  const { clock, state, seconds, latency, write } = setUp();
  state.isHolding = true;
  latency.heard();
  await clock.advance(100);
  [state.isHolding, state.depth] = [false, 1];
  await clock.advance(50);
  await write();
  expect([seconds, clock.pending]).toEqual([[0.15], 0]);
});

it('counts no change that makes nothing to write here', async () => {
  const { clock, seconds, latency } = setUp();
  latency.heard();
  await clock.advance(100);
  expect(seconds).toEqual([]);
});

it('ends with what it waits for', async () => {
  const { clock, state, seconds, latency } = setUp();
  state.depth = 1;
  latency.heard();
  await clock.advance(10);
  latency.stop();
  await clock.advance(10);
  expect([seconds, clock.pending]).toEqual([[], 0]);
});
