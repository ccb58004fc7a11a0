import { expect, it } from 'vitest';
import { Slices } from './slices.ts';

it('works on a few things in each turn, in their order', async () => {
  const worked: (readonly number[])[] = [];
  const slices = new Slices<number>(2, (things) => worked.push(things));
  slices.add([1, 2, 3]);
  slices.add([4]);
  expect(worked).toEqual([]);
  await new Promise(setImmediate);
  expect(worked).toEqual([[1, 2]]);
  await slices.whenDone();
  expect(worked).toEqual([[1, 2], [3], [4]]);
  slices.add([5]);
  await slices.whenDone();
  expect(worked.at(-1)).toEqual([5]);
});

it('has nothing to wait for before there is anything', async () => {
  await expect(new Slices(1, () => {}).whenDone()).resolves.toBeUndefined();
});

it('ends with an error, for whoever waits', async () => {
  const worked: number[] = [];
  const slices = new Slices<number>(1, ([thing = 0]) => {
    if (thing === 2) throw new Error('no');
    worked.push(thing);
  });
  slices.add([1, 2, 3]);
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  slices.add([4]);
  await expect(slices.whenDone()).rejects.toThrow('no');
  expect(worked).toEqual([1]);
});

it('works on nothing any more when it is stopped', async () => {
  const worked: number[] = [];
  const slices = new Slices<number>(1, ([thing = 0]) => worked.push(thing));
  slices.add([1, 2]);
  slices.add([3]);
  await new Promise(setImmediate);
  slices.stop();
  await slices.whenDone();
  slices.add([4]);
  await new Promise(setImmediate);
  expect(worked).toEqual([1]);
});
