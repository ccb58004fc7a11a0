import { expect, it } from 'vitest';
import { connectionLimit } from './limit.ts';

it.each([
  { desired: undefined, table: 262_144, limit: 16_384 },
  { desired: undefined, table: 8192, limit: 1024 },
  { desired: undefined, table: undefined, limit: undefined },
  { desired: 500, table: 262_144, limit: 500 },
  { desired: 0, table: 262_144, limit: undefined },
])('$desired desired of a table of $table: $limit', ({ desired, table, limit }) => {
  expect(connectionLimit(desired, table)).toBe(limit);
});
