import { expect, it } from 'vitest';
import { crowdingOf } from '../../e2e/support/chaos/crowding.ts';

it('is of the worst five seconds, for each processor, and 1 where they were idle', () => {
  const quiet = Array.from({ length: 40 }, () => 1);
  const busy = Array.from({ length: 20 }, () => 12);
  expect(crowdingOf([...quiet, ...busy, ...quiet], 2)).toBe(6);
  expect(crowdingOf(quiet, 2)).toBe(1);
  expect(crowdingOf([], 2)).toBe(1);
});
