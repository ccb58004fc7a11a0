import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { jsonEqual } from '../kube/json-equal.ts';
import { UniformMap } from './uniform-map.ts';

it('is read as a map whose values are all the same', () => {
  const map: ReadonlyMap<string, number> = new UniformMap(['a', 'b'], 1);
  expect([map.size, map.get('a'), map.get('c'), map.has('b'), map.has('c')]).toEqual([2, 1, undefined, true, false]);
  expect([...map]).toEqual([...map.entries()]);
  expect([[...map.entries()], [...map.keys()], [...map.values()]]).toEqual([
    [
      ['a', 1],
      ['b', 1],
    ],
    ['a', 'b'],
    [1, 1],
  ]);
  const seen: unknown[] = [];
  map.forEach((value, key) => {
    seen.push([key, value]);
  });
  expect(seen).toEqual([...map]);
});

it('is equal to one with the same entries in the same order only', () => {
  const map = new UniformMap(['a', 'b'], [1]);
  for (const equal of [jsonEqual, isDeepStrictEqual]) {
    expect(equal(map, new UniformMap(['a', 'b'], [1]))).toBe(true);
    expect(equal(map, new UniformMap(['a', 'b'], [2]))).toBe(false);
    expect(equal(map, new UniformMap(['a'], [1]))).toBe(false);
  }
});
