import { expect, it } from 'vitest';
import { repeated } from './repeated.ts';
import { benchResult } from './result.ts';

const run = (name: string, value: number) => benchResult({ name, value, unit: 'ms', reference: 10, rounds: 5 });

it('of several runs the one with the median ratio is shown, beside the ratios of all', () => {
  expect(repeated([[run('a', 30), run('b', 11)], [run('a', 10), run('b', 12)], [run('a', 20)]])).toEqual([
    { ...run('a', 20), ratios: [1, 2, 3] },
    { ...run('b', 11), ratios: [1.1, 1.2] },
  ]);
});

it('what no run could measure is not there', () => {
  expect(repeated([[], []])).toEqual([]);
});
