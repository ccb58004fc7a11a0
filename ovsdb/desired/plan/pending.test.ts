import { expect, it } from 'vitest';
import type { Uuid } from '../../uuid.ts';
import { PendingOperations } from './pending.ts';

it('changes more elements of a row than a call has arguments', () => {
  const row = { table: 'Address_Set', uuid: '00000000-0000-4000-8000-000000000001' as Uuid, owners: ['a'] };
  const many = Array.from({ length: 200_000 }, (_, index) => `address-${index}`);
  const pending = new PendingOperations();
  pending.changeElements(row, 'addresses', [], many);
  pending.changeEntries(
    row,
    'external_ids',
    [],
    many.map((one) => [one, 'x'] as const),
  );
  const { operations } = pending.build(new Set());
  const mutations = operations.flatMap((one) => (one.op === 'mutate' ? one.mutations : []));
  const sizes = mutations.map(([column, , value]) => [column, Array.isArray(value) ? value[1]?.length : 1]);
  expect(sizes).toEqual([
    ['addresses', many.length],
    ['external_ids', many.length],
  ]);
});
