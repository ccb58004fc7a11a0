import { expect, it } from 'vitest';
import { createSlots } from './slots.ts';

const start = (count: number) => {
  const slots = createSlots(count);
  const inside: string[] = [];
  const enter = (name: string) => slots.enter(() => inside.push(name));
  return { inside, enter };
};

it('lets as many in as there are slots, and the others in order', () => {
  const { inside, enter } = start(2);
  const [a, b] = ['a', 'b', 'c', 'd'].map(enter);
  expect(inside).toEqual(['a', 'b']);
  b?.();
  expect(inside).toEqual(['a', 'b', 'c']);
  a?.();
  expect(inside).toEqual(['a', 'b', 'c', 'd']);
});

it('gives a slot back once', () => {
  const { inside, enter } = start(1);
  const [a] = ['a', 'b', 'c'].map(enter);
  a?.();
  a?.();
  expect(inside).toEqual(['a', 'b']);
});

it('forgets who no longer waits', () => {
  const { inside, enter } = start(1);
  const [a, b] = ['a', 'b', 'c'].map(enter);
  b?.();
  a?.();
  expect(inside).toEqual(['a', 'c']);
});

it('lets the next in when one leaves while it enters', () => {
  const slots = createSlots(1);
  const inside: string[] = [];
  for (const name of ['a', 'b']) {
    slots.enter((leave) => {
      inside.push(name);
      leave();
    });
  }
  expect(inside).toEqual(['a', 'b']);
});
