import { expect, it } from 'vitest';
import { budgetOf, countWithin, MEMORY_BUDGET, USUAL_COUNT } from './budget.ts';

const GIB = 1024 ** 3;
const disk = (free: number) => ({ type: 0xef53, bavail: free / 4_096, bsize: 4_096 });
const memory = (free: number) => ({ ...disk(free), type: 0x0102_1994 });

it.each([
  ['a disk: a quarter of what is free', disk(100 * GIB), false, 25 * GIB],
  ['a stream: what memory may hold', disk(100 * GIB), true, MEMORY_BUDGET],
  ['a file system in memory: likewise', memory(100 * GIB), false, MEMORY_BUDGET],
  ['a small one in memory: a quarter of what is free', memory(GIB / 16), true, GIB / 64],
])('%s', (_, system, isSent, expected) => expect(budgetOf(system, isSent)).toBe(expected));

it.each([
  ['the usual number where it fits', undefined, 2, MEMORY_BUDGET, USUAL_COUNT],
  ['what fits where it does not', undefined, 8, MEMORY_BUDGET, 5_190],
  ['what was asked for', 1_000_000, 5, 25 * GIB, 1_000_000],
  ['what was asked for, up to the last byte', 5_190, 8, MEMORY_BUDGET, 5_190],
  ['no hop', undefined, 0, MEMORY_BUDGET, USUAL_COUNT],
])('%s', (_, asked, hops, budget, expected) => expect(countWithin(asked, hops, budget)).toBe(expected));

it('refuses more, and says which number fits', () => {
  expect(() => countWithin(1_000_000, 5, MEMORY_BUDGET)).toThrow(
    '--count: 1000000 packets at 5 hops are up to 7705.7 MiB, this capture may store 64.0 MiB: at most 8305',
  );
  expect(() => countWithin(5_191, 8, MEMORY_BUDGET)).toThrow('at most 5190');
  expect(() => countWithin(undefined, 5, 1_000)).toThrow('no room for packets');
});
