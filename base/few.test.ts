import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Few, fewOf, hasFew, manyAsFew, withFew, withoutFew } from './few.ts';

const VALUES = Array.from({ length: 30 }, (_, number) => ({ number }));
type Value = (typeof VALUES)[number];

it('has what a set has, however many there are', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.constantFrom(...VALUES)), { maxLength: 80, size: 'max' });
  fc.assert(
    fc.property(steps, (all) => {
      const set = new Set<Value>();
      let few: Few<Value>;
      for (const [isAdded, value] of all) {
        if (isAdded) set.add(value);
        else set.delete(value);
        few = isAdded ? withFew(few, value) : withoutFew(few, value);
        expect([...fewOf(few)]).toEqual([...set]);
        expect(VALUES.filter((one) => hasFew(few, one))).toEqual(VALUES.filter((one) => set.has(one)));
      }
      expect(new Set(fewOf(manyAsFew([...set])))).toEqual(set);
    }),
  );
});

it('costs nothing for none and one', () => {
  const [value = { number: 0 }] = VALUES;
  expect([manyAsFew([]), manyAsFew([value]), withFew(undefined, value), withoutFew(value, value)]).toEqual([
    undefined,
    value,
    value,
    undefined,
  ]);
});
