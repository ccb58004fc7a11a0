import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DueQueue } from './due-queue.ts';

it('gives each item once, in the order of its last time', () => {
  const step = fc.record({ item: fc.nat(9), due: fc.option(fc.nat(30), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const items = Array.from({ length: 10 }, (_, index) => ({ index }));
      const queue = new DueQueue<{ readonly index: number }>();
      const due = new Map<number, number>();
      for (const { item, due: at } of steps) {
        const object = items[item] as { index: number };
        if (at === undefined) queue.delete(object);
        else queue.set(object, at);
        if (at === undefined) due.delete(item);
        else due.set(item, at);
        expect(queue.peek()).toBe(due.size === 0 ? undefined : Math.min(...due.values()));
      }
      const first = due.size === 0 ? 0 : Math.min(...due.values());
      expect(queue.take(first - 1)).toBeUndefined();
      const taken: [number, number][] = [];
      for (let next = queue.peek(); next !== undefined; next = queue.peek())
        taken.push([queue.take(next)?.index ?? -1, next]);
      expect(taken.map(([, at]) => at)).toEqual([...due.values()].sort((a, b) => a - b));
      expect(new Map(taken)).toEqual(due);
    }),
  );
});
