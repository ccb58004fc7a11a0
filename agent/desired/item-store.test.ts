import fc from 'fast-check';
import { expect, it } from 'vitest';
import { byName } from '../../ovsdb/desired/types.ts';
import { ItemStore } from './item-store.ts';

interface Item {
  readonly key: string;
  readonly value: number;
}

const store = (onDirty = (): void => undefined): ItemStore<Item> => new ItemStore(({ key }) => key, onDirty, byName);

it('knows the desired state, and what of it changed since it was asked', () => {
  let reported = 0;
  const items = store(() => reported++);
  items.set('a', [{ key: 'x', value: 1 }]);
  expect(items.desired).toEqual(new Map([['x', { key: 'x', value: 1 }]]));
  expect(items.takeDirty()).toEqual(new Set(['x']));
  items.set('a', [{ key: 'x', value: 1 }]);
  expect([items.takeDirty().size, reported]).toEqual([0, 1]);
  items.set('a', [{ key: 'y', value: 1 }]);
  expect(items.takeDirty()).toEqual(new Set(['x', 'y']));
  expect([...items.desired.keys()]).toEqual(['y']);
});

it('of several owners the first by name has its way, and the next one when it lets go', () => {
  const items = store();
  items.set('b', [{ key: 'x', value: 2 }]);
  items.set('a', [{ key: 'x', value: 1 }]);
  items.takeDirty();
  expect([items.desired.get('x')?.value, items.ownersOf('x')]).toEqual([1, ['a', 'b']]);
  items.delete('a');
  expect(items.desired.get('x')?.value).toBe(2);
  expect(items.takeDirty()).toEqual(new Set(['x']));
  items.delete('b');
  expect(items.desired.size).toBe(0);
});

it('the desired state in the end depends on the last word of each owner alone', () => {
  const change = fc.record({
    owner: fc.constantFrom('a', 'b', 'c'),
    items: fc.array(fc.record({ key: fc.constantFrom('x', 'y', 'z'), value: fc.nat(2) }), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const running = store();
      const mirror = new Map<string, Item>();
      for (const { owner, items } of changes) {
        if (items.length === 0) running.delete(owner);
        else running.set(owner, items);
        for (const key of running.takeDirty()) {
          const item = running.desired.get(key);
          if (item === undefined) mirror.delete(key);
          else mirror.set(key, item);
        }
      }
      const fresh = store();
      for (const [owner, { items }] of new Map(changes.map((one) => [one.owner, one]))) fresh.set(owner, items);
      expect(running.desired).toEqual(fresh.desired);
      // Whoever follows the dirty keys knows all of it.
      expect(mirror).toEqual(fresh.desired);
    }),
  );
});

it('of several owners the first in the order has its way, whatever their names are', () => {
  const items = new ItemStore<Item>(
    ({ key }) => key,
    () => undefined,
    (a, b) => byName(b, a),
  );
  items.set('a', [{ key: 'x', value: 1 }]);
  items.set('b', [{ key: 'x', value: 2 }]);
  expect([items.desired.get('x')?.value, items.ownersOf('x')]).toEqual([2, ['b', 'a']]);
});
