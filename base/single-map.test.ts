import { expect, it } from 'vitest';
import { jsonEqual } from '../kube/json-equal.ts';
import { SingleMap } from './single-map.ts';

it('is read as a map of one entry', () => {
  const one: ReadonlyMap<string, number> = new SingleMap('a', 1);
  expect([one.size, one.get('a'), one.get('b'), one.has('a'), one.has('b')]).toEqual([1, 1, undefined, true, false]);
  expect([...one, ...one.entries(), ...one.keys(), ...one.values()]).toEqual([['a', 1], ['a', 1], 'a', 1]);
  const seen: unknown[] = [];
  one.forEach((value, key, map) => {
    seen.push(value, key, map);
  });
  expect(seen).toEqual([1, 'a', one]);
});

it('is equal to one with the same entry only', () => {
  const one = new SingleMap('a', [1]);
  expect(jsonEqual(one, new SingleMap('a', [1]))).toBe(true);
  expect(jsonEqual(one, new SingleMap('a', [2]))).toBe(false);
  expect(jsonEqual(one, new SingleMap('b', [1]))).toBe(false);
  expect(jsonEqual(one, new Map())).toBe(false);
});
