import { expect, it } from 'vitest';
import { connectionLimit } from './limit.ts';

it.each([
  { wanted: undefined, table: 262_144, limit: 16_384 },
  { wanted: undefined, table: 8192, limit: 1024 },
  { wanted: undefined, table: undefined, limit: undefined },
  { wanted: 500, table: 262_144, limit: 500 },
  { wanted: 0, table: 262_144, limit: undefined },
])('$wanted wanted of a table of $table: $limit', ({ wanted, table, limit }) => {
  expect(connectionLimit(wanted, table)).toBe(limit);
});
