import { expect, it } from 'vitest';
import { openVSwitch } from '../models/open-vswitch.gen.ts';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import { perTable } from './per-table.ts';

it('is found out once for each table of each model; a table that is not there has no columns', () => {
  const asked: number[] = [];
  const countOf = perTable((columns) => {
    const count = Object.keys(columns).length;
    asked.push(count);
    return count;
  });
  const counts = [countOf(ovnNorthbound, 'ACL'), countOf(ovnNorthbound, 'ACL'), countOf(ovnNorthbound, 'Meter')];
  expect(counts[0]).toBeGreaterThan(5);
  expect(counts[1]).toBe(counts[0]);
  expect([countOf(ovnNorthbound, 'Bogus'), countOf(openVSwitch, 'ACL')]).toEqual([0, 0]);
  expect(asked).toEqual([counts[0], counts[2], 0, 0]);
});
