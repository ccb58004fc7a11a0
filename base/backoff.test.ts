import { expect, it } from 'vitest';
import { Backoff, backoffMs } from './backoff.ts';

it('doubles up to its limit, with a random half', () => {
  const wait = (failures: number, chance: number) =>
    backoffMs({ minMs: 100, maxMs: 1000, random: () => chance }, failures);
  expect([1, 2, 3, 4, 5, 1000].map((n) => wait(n, 0))).toEqual([50, 100, 200, 400, 500, 500]);
  expect([1, 5].map((n) => wait(n, 1))).toEqual([100, 1000]);
});

it('counts failures until it is reset, and waits in full where nothing is random', () => {
  const backoff = new Backoff({ minMs: 100, maxMs: 350 });
  expect([1, 2, 3, 4].map(() => backoff.nextMs())).toEqual([100, 200, 350, 350]);
  expect(backoff.failures).toBe(4);
  backoff.reset();
  expect(backoff.nextMs()).toBe(100);
});
