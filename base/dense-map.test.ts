import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DenseMap } from './dense-map.ts';

const key = fc.integer({ min: 0, max: 40 }).map((number) => `key-${number}`);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constant('set' as const), key) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('delete' as const), key) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('clear' as const), key) },
);

it('finds values by what they are called', () => {
  const dense = new DenseMap<{ name: string; number: number }>(({ name }) => name);
  const map = new Map<string, { name: string; number: number }>();
  for (let number = 0; number < 5000; number++) {
    const name = `key-${(number * 7919) % 3000}`;
    if (number % 3 === 2) expect(dense.delete(name)).toBe(map.delete(name));
    else [dense.set(name, { name, number }), map.set(name, { name, number })];
  }
  expect([...dense]).toEqual([...map]);
});

it('does as a Map does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const [dense, map] = [new DenseMap<number>(), new Map<string, number>()];
      for (const [index, [what, one]] of steps.entries()) {
        if (what === 'set') [dense.set(one, index), map.set(one, index)];
        else if (what === 'delete') expect(dense.delete(one)).toBe(map.delete(one));
        else [dense.clear(), map.clear()];
        expect([dense.get(one), dense.has(one), dense.size]).toEqual([map.get(one), map.has(one), map.size]);
      }
      expect([...dense]).toEqual([...map]);
    }),
  );
});

it('is walked over as a Map is while it changes', () => {
  fc.assert(
    fc.property(fc.nat(30), fc.array(fc.array(step, { maxLength: 40 }), { maxLength: 30 }), (count, turns) => {
      const walked = [new DenseMap<number>(), new Map<string, number>()].map((one) => {
        for (let index = 0; index < count; index++) one.set(`key-${index}`, index);
        const seen: [string, number][] = [];
        let turn = 0;
        for (const entry of one) {
          seen.push(entry as [string, number]);
          for (const [what, name] of turns[turn] ?? []) {
            if (what === 'set') one.set(name, turn);
            else if (what === 'delete') one.delete(name);
            else one.clear();
          }
          turn += 1;
          if (turn > 200) break;
        }
        return seen;
      });
      expect(walked[0]).toEqual(walked[1]);
    }),
  );
});

it('has many entries, and gives their memory back', () => {
  const dense = new DenseMap<number>();
  for (let index = 0; index < 10_000; index++) dense.set(`key-${index}`, index);
  for (let index = 0; index < 10_000; index++) expect(dense.get(`key-${index}`)).toBe(index);
  expect(dense.has('key-10000')).toBe(false);
  for (let index = 0; index < 9990; index++) expect(dense.delete(`key-${index}`)).toBe(true);
  expect([...dense.values()]).toEqual([9990, 9991, 9992, 9993, 9994, 9995, 9996, 9997, 9998, 9999]);
});

it('keeps the text that came first', () => {
  const dense = new DenseMap<number>();
  for (let index = 0; index < 20; index++) dense.set(`key-${index}`, index);
  expect([dense.keyOf('key-3'), dense.keyOf('key-30')]).toEqual(['key-3', undefined]);
});
