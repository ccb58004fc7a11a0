import { expect, it } from 'vitest';
import { isUuid, UuidSequence } from './uuid.ts';

it('makes uuids of which no two have the same first part', () => {
  const uuids = new UuidSequence();
  const many = Array.from({ length: 1000 }, () => uuids.next());
  expect(many.every(isUuid)).toBe(true);
  expect(new Set(many.map((uuid) => uuid.slice(0, 8))).size).toBe(1000);
  expect(new UuidSequence().next().slice(8)).not.toBe(many[0]?.slice(8));
});
