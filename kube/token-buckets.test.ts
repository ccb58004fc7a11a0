import { expect, it } from 'vitest';
import { createTokenBuckets } from './token-buckets.ts';

const RATE = { burst: 3, refillMs: 1000 };

it('lets so many through at once, then one in a while, each key for itself', () => {
  const buckets = createTokenBuckets(RATE);
  expect([1, 2, 3, 4].map(() => buckets.take('a', 0))).toEqual([true, true, true, false]);
  expect([buckets.take('b', 0), buckets.take('a', 999), buckets.take('a', 1000)]).toEqual([true, false, true]);
  expect(buckets.take('a', 1500)).toBe(false);
});

it('never has more than a burst, whatever time has passed or gone back', () => {
  const buckets = createTokenBuckets(RATE);
  buckets.take('a', 0);
  expect([1, 2, 3, 4].map(() => buckets.take('a', 1e9))).toEqual([true, true, true, false]);
  expect(buckets.take('a', 0)).toBe(false);
});

it('says how long to wait for one that is taken in advance', () => {
  const buckets = createTokenBuckets(RATE);
  expect([0, 0, 0, 0, 1500].map((now) => buckets.reserve('a', now))).toEqual([0, 0, 0, 1000, 500]);
});

it('takes one in advance, not more, when nobody waited for it', () => {
  const buckets = createTokenBuckets(RATE);
  expect([1, 2, 3, 4, 5, 6].map(() => buckets.reserve('a', 0))).toEqual([0, 0, 0, 1000, 1000, 1000]);
});

it('forgets who has been quiet for longest', () => {
  const buckets = createTokenBuckets({ burst: 1, refillMs: 1000 }, 2);
  for (const key of ['a', 'b', 'c']) buckets.take(key, 0);
  expect([buckets.take('c', 0), buckets.take('a', 0)]).toEqual([false, true]);
});
