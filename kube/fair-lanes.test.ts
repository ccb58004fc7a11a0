import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFairLanes } from './fair-lanes.ts';

const laneOf = (key: string): string => key[0] ?? '';
const drained = (keys: readonly string[]): string[] => {
  const lanes = createFairLanes<string, number>(laneOf);
  for (const [at, key] of keys.entries()) lanes.add(key, at);
  const taken: string[] = [];
  for (let next = lanes.take(); next !== undefined; next = lanes.take()) taken.push(next[0]);
  return taken;
};

it('goes round the lanes, the oldest of each first', () => {
  expect(drained(['a1', 'a2', 'a3', 'b1', 'c1', 'c2'])).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

it('who comes late waits for one of each lane', () => {
  const lanes = createFairLanes<string, number>(laneOf);
  for (let n = 0; n < 100; n += 1) lanes.add(`a${n}`, n);
  expect(lanes.take()).toEqual(['a0', 0]);
  lanes.add('b', 1);
  expect([lanes.take()?.[0], lanes.take()?.[0], lanes.size]).toEqual(['a1', 'b', 98]);
});

it('keeps each key once, at its place', () => {
  const lanes = createFairLanes<string, number>(laneOf);
  lanes.add('a1', 1);
  lanes.add('a2', 2);
  lanes.add('a1', 3);
  expect([lanes.size, lanes.has('a1'), lanes.has('b1')]).toEqual([2, true, false]);
  expect([lanes.take(), lanes.take(), lanes.take(), lanes.size]).toEqual([['a1', 3], ['a2', 2], undefined, 0]);
});

it('gives no more of a lane than may be under way, and the rest when something of it has ended', () => {
  const lanes = createFairLanes<string, number>(laneOf, (lane) => (lane === 'a' ? 2 : 9));
  for (const [at, key] of ['a1', 'a2', 'a3', 'a4', 'b1'].entries()) lanes.add(key, at);
  expect([lanes.take()?.[0], lanes.take()?.[0], lanes.take()?.[0], lanes.take()]).toEqual([
    'a1',
    'b1',
    'a2',
    undefined,
  ]);
  expect([lanes.size, lanes.has('a3')]).toEqual([2, true]);
  lanes.add('a5', 5);
  lanes.add('a3', 6);
  expect(lanes.take()).toBeUndefined();
  lanes.end('b1');
  expect(lanes.take()).toBeUndefined();
  lanes.end('a2');
  expect([lanes.take(), lanes.take()]).toEqual([['a3', 6], undefined]);
});

it('whatever comes and ends: a lane is never over its limit, and nothing waits where there is room', () => {
  const step = fc.oneof(fc.stringMatching(/^[a-c][0-9]$/), fc.constantFrom('take', 'end'));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const lanes = createFairLanes<string, number>(laneOf, () => 2);
      const waiting = new Set<string>();
      const underWay: string[] = [];
      const usedOf = (lane: string): number => underWay.filter((key) => laneOf(key) === lane).length;
      const take = (): void => {
        const key = lanes.take()?.[0];
        const possible = [...waiting].filter((one) => usedOf(laneOf(one)) < 2);
        if (key === undefined) expect(possible).toEqual([]);
        else {
          expect(possible).toContain(key);
          waiting.delete(key);
          underWay.push(key);
        }
      };
      for (const one of steps) {
        if (one === 'take') take();
        else if (one === 'end') {
          const key = underWay.shift();
          if (key !== undefined) lanes.end(key);
        } else {
          lanes.add(one, 0);
          waiting.add(one);
        }
        expect(lanes.size).toBe(waiting.size);
      }
    }),
  );
});

it('gives everything once, and a lane never two turns while another waits', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.stringMatching(/^[a-d][0-9]$/)), (keys) => {
      const taken = drained(keys);
      expect([...taken].sort()).toEqual([...keys].sort());
      for (const [at, key] of taken.slice(1).entries()) {
        const isAlone = taken.slice(at + 1).every((other) => laneOf(other) === laneOf(key));
        if (!isAlone) expect(laneOf(taken[at] ?? '')).not.toBe(laneOf(key));
      }
    }),
  );
});
