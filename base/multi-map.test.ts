import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MultiMap } from './multi-map.ts';

const VALUES = Array.from({ length: 20 }, (_, id) => ({ id }));

it('is a map of sets, however many values a key has', () => {
  const steps = fc.array(
    fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom(...VALUES), fc.integer({ min: 0, max: 3 })),
    {
      maxLength: 120,
    },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const map = new MultiMap<{ readonly id: number }>();
      const model = new Map<string, Set<{ readonly id: number }>>();
      for (const [key, value, kind] of all) {
        const values = model.get(key) ?? new Set();
        if (kind > 0) {
          map.add(key, value);
          model.set(key, values.add(value));
        } else {
          expect(map.delete(key, value)).toBe(values.delete(value));
          if (values.size === 0) model.delete(key);
        }
        expect(map.has(key)).toBe(model.has(key));
        expect(map.count(key)).toBe(model.get(key)?.size ?? 0);
      }
      expect([...map.keys()]).toEqual([...model.keys()]);
      expect(map.size).toBe(model.size);
      for (const key of ['a', 'b']) expect([...map.get(key)]).toEqual([...(model.get(key) ?? [])]);
    }),
  );
});

it('holds texts as well, and forgets all at once', () => {
  const map = new MultiMap<string>();
  for (const value of ['', 'x', 'x']) map.add('a', value);
  expect([[...map.get('a')], [...map.get('b')]]).toEqual([['', 'x'], []]);
  map.clear();
  expect([map.size, map.count('a')]).toEqual([0, 0]);
});
