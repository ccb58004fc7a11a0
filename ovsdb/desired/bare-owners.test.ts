import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OvnNorthbound } from '../models/ovn-northbound.gen.ts';
import { BulkWorld } from './bulk/bulk-world.suite.ts';
import { DesiredRows } from './desired-rows.ts';
import { byName, type DesiredFragment, type Member } from './types.ts';
import { unitId } from './unit.ts';

const PREFIX = 'peers:';
const member = (row: string, value: string): Member<OvnNorthbound> => ({
  ...{ table: 'Address_Set', row, column: 'addresses', value },
});
const members = fc.uniqueArray(
  fc.tuple(fc.constantFrom('s', 't'), fc.constantFrom('10.0.0.1', '10.0.0.2', 'fd00::3')).map((one) => member(...one)),
  { maxLength: 4, selector: ({ row, value }) => `${String(row)} ${String(value)}` },
);

/** What desires a thing, and in which order it was heard of. */
const seen = (desired: DesiredRows<OvnNorthbound>) => ({
  owners: [...desired.owners()].sort(),
  members: [...desired.members.all()].map((one) => JSON.stringify(one)).sort(),
  units: [...desired.units()].map((unit) => [unitId(unit), desired.ownersOf(unit)]).sort(),
  isEmpty: desired.isEmpty,
});

it('desires and reports for bare owners what it does for others with the same members', () => {
  // `a:` and `z:` come before and after bare owners in their order.
  const steps = fc.array(fc.tuple(fc.constantFrom('a:x', 'peers:x', 'peers:y', 'z:x'), members), { maxLength: 16 });
  fc.assert(
    fc.property(steps, (all) => {
      const bare = new DesiredRows<OvnNorthbound>(byName, PREFIX);
      const plain = new DesiredRows<OvnNorthbound>();
      const changes: [string[], string[]] = [[], []];
      for (const [index, desired] of [bare, plain].entries())
        desired.onChange(({ unit, owner }) => changes[index]?.push(`${owner} ${unitId(unit)}`));
      const before = new Map<string, readonly Member<OvnNorthbound>[]>();
      for (const [owner, after] of all) {
        if (owner.startsWith(PREFIX)) bare.replaceMembers(owner.slice(PREFIX.length), before.get(owner) ?? [], after);
        else bare.set(owner, { members: after });
        before.set(owner, after);
        plain.set(owner, { members: after });
        expect(seen(bare)).toEqual(seen(plain));
        expect(bare.hasOwner(owner)).toBe(after.length > 0);
        expect(changes[0]).toEqual(changes[1]);
      }
      for (const [owner, last] of before) {
        if (owner.startsWith(PREFIX)) bare.replaceMembers(owner.slice(PREFIX.length), last, []);
        else bare.delete(owner);
      }
      expect(seen(bare)).toEqual({ owners: [], members: [], units: [], isEmpty: true });
      expect(bare.members.hasTarget('s')).toBe(false);
    }),
    { numRuns: 300 },
  );
});

const SETS: DesiredFragment<OvnNorthbound> = {
  rows: ['s', 't', 'u'].map((key) => ({
    table: 'Address_Set',
    key,
    columns: { name: key, addresses: key === 'u' ? ['10.9.9.9'] : [] },
  })),
};

it('has elements of bare owners in a bulk load, in as many transactions as they are large, and repairs them', async () => {
  const desired = new DesiredRows<OvnNorthbound>(byName, PREFIX);
  await using world = new BulkWorld({ desired, maxOperations: 2 });
  desired.set('sets', SETS);
  for (let n = 0; n < 100; n++) {
    const ip = `10.0.0.${n}`;
    desired.replaceMembers(`pod-${n}`, [], [member('s', ip), ...(n % 2 === 0 ? [member('u', ip)] : [])]);
  }
  // Nobody has this set: its member waits.
  desired.replaceMembers('late', [], [member('missing', '10.1.1.1')]);
  await world.start();
  await world.reconciler.whenIdle();
  expect(world.reconciler.counts).toMatchObject({ failures: 0, driftRepairs: 0 });
  const sizes = () =>
    Object.fromEntries(world.database.rows('Address_Set').map((row) => [row['name'], (row['addresses'] as []).length]));
  expect(sizes()).toEqual({ s: 100, t: 0, u: 51 });
  expect(world.reconciler.status('peers:pod-1').kind).toBe('done');
  expect(world.reconciler.status('peers:late').kind).toBe('waiting');
  expect(world.reconciler.problems().map(({ owner, isDesired }) => [owner, isDesired])).toEqual([['peers:late', true]]);
  world.database.transact([{ op: 'update', table: 'Address_Set', where: [], row: { addresses: ['set', []] } }]);
  await world.reconciler.whenIdle();
  expect(sizes()).toEqual({ s: 100, t: 0, u: 51 });
  desired.replaceMembers('pod-1', [member('s', '10.0.0.1')], [member('t', '10.0.0.1')]);
  await world.reconciler.whenIdle();
  expect(sizes()).toEqual({ s: 99, t: 1, u: 51 });
});
