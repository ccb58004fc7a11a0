import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { PolicyPace } from './policy-pace.ts';

const setUp = () => {
  const clock = createFakeClock();
  const pace = new PolicyPace(clock);
  const made: string[] = [];
  const make = (key: string, text = key): void => pace.make(key, () => made.push(`${text} at ${clock.monotonic()}`));
  return { clock, pace, made, make, start: clock.monotonic() };
};

it('makes the first at once, and those that follow together, ten times a second', async () => {
  const { clock, made, make, start } = setUp();
  for (let at = 0; at < 25; at += 1) {
    make(`p${at}`);
    await clock.advance(10);
  }
  await clock.advance(1_000);
  const times = made.map((text) => Number(text.split(' at ')[1]) - start);
  expect([made.length, [...new Set(times)], clock.pending]).toEqual([25, [0, 100, 200, 300], 0]);
  make('alone');
  expect(made.at(-1)).toBe(`alone at ${clock.monotonic()}`);
});

it('makes the last change of an object, in the order in which objects came', async () => {
  const { clock, made, make, start } = setUp();
  make('first');
  make('a', 'a');
  make('b');
  make('a', 'a again');
  await clock.advance(100);
  expect(made.slice(1)).toEqual([`a again at ${start + 100}`, `b at ${start + 100}`]);
});

it('makes what is held when somebody cannot wait, whatever one of them throws', async () => {
  const { clock, pace, made, make } = setUp();
  make('first');
  pace.make('bad', () => {
    throw new Error('bad');
  });
  make('a');
  pace.release();
  expect([made.length, clock.pending]).toEqual([2, 0]);
  expect(() =>
    new PolicyPace(clock).make('bad', () => {
      throw new Error('bad');
    }),
  ).toThrow('bad');
});

it('holds nothing without a clock, and forgets what is held when it ends', async () => {
  const made: string[] = [];
  const pace = new PolicyPace(undefined);
  for (const key of ['a', 'b']) pace.make(key, () => made.push(key));
  expect(made).toEqual(['a', 'b']);
  const ended = setUp();
  ended.make('a');
  ended.make('b');
  ended.pace.stop();
  await ended.clock.advance(1_000);
  expect([ended.made.length, ended.clock.pending]).toEqual([1, 0]);
});
