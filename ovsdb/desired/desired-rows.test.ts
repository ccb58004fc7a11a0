import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { OvnNorthbound } from '../models/ovn-northbound.gen.ts';
import { DesiredRows } from './desired-rows.ts';
import { type DesiredFragment, foreignRef, rowRef } from './types.ts';
import { unitId } from './unit.ts';

type Fragment = DesiredFragment<OvnNorthbound>;

const sw = (config: Record<string, string> = {}): Fragment => ({
  rows: [{ table: 'Logical_Switch', key: 's', columns: { name: 's', other_config: config } }],
});
const port = (key: string, ...switches: string[]): Fragment => ({
  rows: [{ table: 'Logical_Switch_Port', key, columns: { name: key } }],
  members: switches.map((row) => ({ table: 'Logical_Switch', row, column: 'ports', value: rowRef(key) })),
});

let desired: DesiredRows<OvnNorthbound>;
let changes: string[];
beforeEach(() => {
  desired = new DesiredRows();
  changes = [];
  desired.onChange(({ unit, owner }) => changes.push(`${owner}: ${unitId(unit).replaceAll('\n', ' ')}`));
});

const changesOf = (run: () => void): string[] => {
  changes = [];
  run();
  return changes;
};

describe('DesiredRows', () => {
  it('passes on what differs from what the owner desired before, and nothing else', () => {
    expect(changesOf(() => desired.set('pod', port('p', 's')))).toEqual([
      'pod: row Logical_Switch_Port p',
      'pod: member Logical_Switch s ports p',
    ]);
    expect(changesOf(() => desired.set('pod', port('p', 's')))).toEqual([]);
    expect(changesOf(() => desired.set('pod', port('p', 't')))).toEqual([
      'pod: member Logical_Switch s ports p',
      'pod: member Logical_Switch t ports p',
    ]);
    expect(changesOf(() => desired.delete('pod'))).toEqual([
      'pod: row Logical_Switch_Port p',
      'pod: member Logical_Switch t ports p',
    ]);
    expect(changesOf(() => desired.delete('pod'))).toEqual([]);
    expect([...desired.owners(), ...desired.units()]).toEqual([]);
  });

  it('has one winner for a row, whoever comes first, and the next one when it goes', () => {
    const shadows: string[] = [];
    desired.onShadow((owner) => shadows.push(owner));
    desired.set('b', sw({ by: 'b' }));
    desired.set('a', sw({ by: 'a' }));
    desired.set('c', sw({ by: 'a' }));
    expect(desired.row('s')?.columns['other_config']).toEqual({ by: 'a' });
    expect(desired.rowOwners('s')).toEqual(['a', 'c']);
    expect([...desired.shadowedKeys('b')]).toEqual(['s']);
    desired.delete('a');
    expect(desired.row('s')?.columns['other_config']).toEqual({ by: 'b' });
    expect([desired.shadowedKeys('b').size, desired.shadowedKeys('c').size]).toEqual([0, 1]);
    desired.delete('b');
    expect(desired.row('s')?.columns['other_config']).toEqual({ by: 'a' });
    expect(desired.shadowedKeys('c').size).toBe(0);
    expect(shadows).toEqual(['b', 'b', 'c', 'c']);
  });

  it('keeps a member as long as anybody contributes it', () => {
    const member: Fragment = { members: [{ table: 'Address_Set', row: 'as', column: 'addresses', value: '10.0.0.1' }] };
    desired.set('a', member);
    expect(changesOf(() => desired.set('b', member))).toEqual(['b: member Address_Set as addresses 10.0.0.1']);
    expect(changesOf(() => desired.delete('a'))).toEqual([]);
    expect(desired.members.ownersOf('as', 'addresses', '10.0.0.1')).toEqual(['b']);
    expect(changesOf(() => desired.delete('b'))).toHaveLength(1);
    expect(desired.members.hasTarget('as')).toBe(false);
  });

  it('knows what refers to a row', () => {
    desired.set('pod', port('p', 's', 't'));
    desired.set('group', { rows: [{ table: 'Port_Group', key: 'pg', columns: { name: 'pg', ports: [rowRef('p')] } }] });
    expect([...desired.referrers('p')].map((it) => ('key' in it ? it.key : it.row))).toEqual(['s', 't', 'pg']);
    desired.set('pod', port('p', 's'));
    desired.delete('group');
    expect([...desired.referrers('p')]).toHaveLength(1);
    desired.delete('pod');
    expect([...desired.referrers('p')]).toEqual([]);
  });

  it('merges the patches of a fragment, and those of owners in their order', () => {
    desired.set('b', {
      patches: [
        { table: 'NB_Global', columns: { name: 'b' } },
        { table: 'NB_Global', entries: { options: { x: '1', y: null } } },
      ],
    });
    desired.set('a', { patches: [{ table: 'NB_Global', columns: { name: 'a' } }] });
    const [unit] = desired.units();
    expect(unit).toMatchObject({ kind: 'patch', table: 'NB_Global' });
    const patches = desired.patches(unit?.kind === 'patch' ? unit.target : '');
    expect(patches).toEqual([
      { table: 'NB_Global', columns: { name: 'a' } },
      { table: 'NB_Global', columns: { name: 'b' }, entries: { options: { x: '1', y: null } } },
    ]);
  });

  it('costs an owner of a huge set no more than one of a small one', () => {
    const count = 20_000;
    for (let index = 0; index < count; index++) desired.set(`pod${index}`, port(`p${index}`, 's'));
    expect([...desired.members.of('s', 'ports')]).toHaveLength(count);
    expect(changesOf(() => desired.set('one more', port('q', 's')))).toHaveLength(2);
    expect(changesOf(() => desired.delete('pod77'))).toHaveLength(2);
  });

  it('addresses rows that are not ours by their values', () => {
    const member = (name: string): Fragment => ({
      members: [{ table: 'Port_Group', row: foreignRef('Port_Group', { name }), column: 'ports', value: rowRef('p') }],
    });
    desired.set('a', member('x'));
    expect(changesOf(() => desired.set('a', member('y')))).toHaveLength(2);
    expect(desired.hasForeignTargets('Port_Group')).toBe(true);
    expect(desired.hasForeignTargets('Logical_Switch')).toBe(false);
  });
});

describe('a fragment whose row loses', () => {
  const red = (tag: string, row: string): Fragment => ({
    rows: [{ table: 'Logical_Switch_Port', key: 'p', columns: { name: 'p', type: tag } }],
    members: [{ table: 'Logical_Switch', row, column: 'ports', value: rowRef('p') }],
  });

  it('puts no row of another owner anywhere, and has its own in its place when the winner goes', () => {
    desired.set('b', red('pod', 'inside'));
    expect(changesOf(() => desired.set('a', red('localnet', 'outside')))).toContain(
      'b: member Logical_Switch inside ports p',
    );
    expect(desired.members.get('inside', 'ports', 'p')).toBeUndefined();
    expect(desired.members.ownersOf('outside', 'ports', 'p')).toEqual(['a']);
    expect([...desired.referrers('p')]).toEqual(red('', 'outside').members);
    expect(changesOf(() => desired.delete('a'))).toContain('b: member Logical_Switch inside ports p');
    expect(desired.members.ownersOf('inside', 'ports', 'p')).toEqual(['b']);
    desired.set('a', red('localnet', 'outside'));
    desired.delete('b');
    desired.delete('a');
    expect([...desired.units(), ...desired.referrers('p')]).toEqual([]);
  });

  it('adds nothing to a row that it desired otherwise', () => {
    const join = (by: string, added: string): Fragment => ({
      rows: [{ table: 'Logical_Switch', key: 'join', columns: { name: 'join', other_config: { by } } }],
      members: [{ table: 'Logical_Switch', row: 'join', column: 'ports', value: rowRef(added) }],
    });
    desired.set('b', join('b', 'x'));
    desired.set('a', join('a', 'y'));
    expect([...desired.members.of('join', 'ports')].map(({ value }) => value)).toEqual([rowRef('y')]);
  });

  it('loses by the order of owners, whatever their names are', () => {
    const rank = (owner: string): number => (owner.startsWith('z') ? 0 : 1);
    const ordered = new DesiredRows<OvnNorthbound>((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
    ordered.set('pod', red('pod', 'inside'));
    ordered.set('zone', red('localnet', 'outside'));
    expect(ordered.rowOwners('p')).toEqual(['zone']);
    expect([...ordered.shadowedKeys('pod')]).toEqual(['p']);
    expect(ordered.members.hasTarget('inside')).toBe(false);
  });

  it('has what it may have at every moment, and who follows the changes knows all of it', () => {
    const key = fc.constantFrom('p', 'q', 's');
    const wish = fc.record({
      rows: fc.array(
        fc.record({
          table: fc.constant('Logical_Switch' as const),
          key,
          columns: fc.record({ name: fc.constantFrom('1', '2') }),
        }),
        { maxLength: 2 },
      ),
      members: fc.array(
        fc.record({
          table: fc.constant('Logical_Switch' as const),
          row: key,
          column: fc.constant('ports' as const),
          value: key.map(rowRef),
        }),
        { maxLength: 3 },
      ),
    });
    const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(wish, { nil: undefined })), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(steps, (all) => {
        const rows = new DesiredRows<OvnNorthbound>();
        const mirror = new Set<string>();
        rows.onChange(({ unit }) => {
          if (unit.kind !== 'member') return;
          const isThere = rows.members.get(unit.target, unit.column, unit.element) !== undefined;
          if (isThere) mirror.add(unitId(unit));
          else mirror.delete(unitId(unit));
        });
        const last = new Map<string, Fragment>();
        for (const [owner, fragment] of all) {
          if (fragment === undefined) rows.delete(owner);
          else rows.set(owner, fragment);
          last.set(owner, fragment ?? {});
        }
        const allowed = [...last].flatMap(([owner, { members = [] }]) =>
          members.flatMap(({ row, value }) => {
            const lost = rows.shadowedKeys(owner);
            const element = (value as { ref: string }).ref;
            return lost.has(row as string) || lost.has(element)
              ? []
              : [`member\nLogical_Switch\n${row}\nports\n${element}`];
          }),
        );
        const held = [...rows.units()].filter(({ kind }) => kind === 'member').map(unitId);
        expect(held.sort()).toEqual([...new Set(allowed)].sort());
        expect([...mirror].sort()).toEqual(held);
      }),
      { numRuns: 500 },
    );
  });
});
