import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LONGEST, longestFirst } from '../../longest-first.ts';

it('names files that are there, once each', () => {
  expect(LONGEST.filter((path) => !existsSync(path))).toEqual([]);
  expect(new Set(LONGEST).size).toBe(LONGEST.length);
});

it('puts the longest first, and leaves the others in their order', () => {
  const [first = '', second = ''] = LONGEST;
  const files = ['test/e2e/z.test.ts', second, 'test/e2e/a.test.ts', first].map((path) => ({ path }));
  expect(longestFirst(files, ({ path }) => path).map(({ path }) => path)).toEqual([
    ...[first, second],
    ...['test/e2e/z.test.ts', 'test/e2e/a.test.ts'],
  ]);
});
