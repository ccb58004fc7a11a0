import { expect, it } from 'vitest';
import { seedOf } from './hostile-seed.ts';

it('is that of the source, and any without one', () => {
  expect(seedOf('0000000a5f4c8e')).toBe('10');
  expect(seedOf('ffffffff5f4c8e')).toBe(String(2 ** 31 - 1));
  expect(seedOf('not a tree')).toMatch(/^[0-9]+$/);
  expect(seedOf(undefined)).toMatch(/^[0-9]+$/);
});
