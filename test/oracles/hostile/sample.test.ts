import { expect, it } from 'vitest';
import { cellId, cells } from './cells.ts';
import { ENTRY_POINTS } from './dimensions/entry-points.ts';
import { pairsOf, sampleOf } from './sample.ts';

const some = cells(ENTRY_POINTS.slice(0, 4));

it('has every pair of values that is anywhere', () => {
  const sample = new Set(sampleOf(some, 'any').flatMap(pairsOf));
  const missing = new Set(some.flatMap(pairsOf).filter((pair) => !sample.has(pair)));
  expect([...missing]).toEqual([]);
});

it('is a small part, the same for a seed and another one for another', () => {
  const ids = (seed: string): readonly string[] => sampleOf(some, seed).map(cellId);
  expect(ids('a')).toEqual(ids('a'));
  expect(ids('a')).not.toEqual(ids('b'));
  expect(ids('a').length).toBeLessThan(some.length / 4);
});
