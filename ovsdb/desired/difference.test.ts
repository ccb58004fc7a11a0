import { beforeEach, describe, expect, it } from 'vitest';
import { type OvnNorthbound, ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import { MemoryDatabase } from '../testing/memory/database.ts';
import { mirrorOf } from '../testing/memory/mirror.ts';
import { DesiredRows } from './desired-rows.ts';
import { rowDifferences } from './difference.ts';
import { garbageUnits } from './garbage.ts';
import { ActualRows } from './plan/actual-rows.ts';
import { plan } from './plan/plan.ts';
import { type DesiredFragment, rowRef } from './types.ts';

const KEY = 'ovn-udn/key';
const NETWORK: DesiredFragment<OvnNorthbound> = {
  rows: [
    {
      table: 'Logical_Switch',
      key: 'Logical_Switch/s',
      columns: { name: 's', other_config: { subnet: '10.0.0.0/24' } },
    },
    { table: 'Logical_Switch_Port', key: 'Logical_Switch_Port/p', columns: { name: 'p' } },
  ],
  members: [
    { table: 'Logical_Switch', row: 'Logical_Switch/s', column: 'ports', value: rowRef('Logical_Switch_Port/p') },
  ],
};

let database: MemoryDatabase;
let desired: DesiredRows<OvnNorthbound>;
let store: ReturnType<typeof mirrorOf>;
beforeEach(() => {
  database = new MemoryDatabase(ovnNorthbound);
  desired = new DesiredRows();
  store = mirrorOf(database, KEY);
});

const differences = () => rowDifferences({ desired, store, ownerKey: KEY });

const apply = (): void => {
  const actual = new ActualRows({ store, ownerKey: KEY });
  const wishes = desired as unknown as DesiredRows;
  const units = [...wishes.units(), ...garbageUnits(wishes, actual)];
  expect(JSON.stringify(database.transact(plan({ desired: wishes, actual, units }).operations))).not.toContain('error');
};

describe('the difference of a database', () => {
  it('names rows that are not there, with who wants them', () => {
    desired.set('layer3:red', NETWORK);
    expect(differences()).toEqual([
      {
        key: 'Logical_Switch_Port/p',
        kind: 'missing',
        owners: ['layer3:red'],
        desired: '{"external_ids":{"ovn-udn/key":"Logical_Switch_Port/p"},"name":"p"}',
      },
      {
        key: 'Logical_Switch/s',
        kind: 'missing',
        owners: ['layer3:red'],
        desired: expect.stringContaining('"ports":["Logical_Switch_Port/p"]'),
      },
    ]);
  });

  it('is empty when everything is written, and looking changes nothing', () => {
    desired.set('layer3:red', NETWORK);
    apply();
    expect(differences()).toEqual([]);
    database.transact([{ op: 'update', table: 'Logical_Switch', where: [], row: { other_config: ['map', []] } }]);
    expect(differences()).toEqual(differences());
  });

  it('says what a column has and what it should have', () => {
    desired.set('layer3:red', NETWORK);
    apply();
    database.transact([
      { op: 'update', table: 'Logical_Switch', where: [], row: { other_config: ['map', [['subnet', '10.9.0.0/24']]] } },
    ]);
    expect(differences()).toEqual([
      {
        key: 'Logical_Switch/s',
        kind: 'different',
        owners: ['layer3:red'],
        desired: expect.stringContaining('10.0.0.0/24'),
        actual: expect.stringContaining('10.9.0.0/24'),
      },
    ]);
  });

  it('has what no owner desires, and only what is ours', () => {
    desired.set('layer3:red', NETWORK);
    apply();
    desired.delete('layer3:red');
    database.transact([{ op: 'insert', table: 'Logical_Switch', row: { name: 'foreign' } }]);
    const found = differences();
    expect(found.map(({ key, kind }) => `${kind} ${key}`)).toContain('unwanted Logical_Switch/s');
    expect(JSON.stringify(found)).not.toContain('foreign');
  });

  it('says why something cannot be written', () => {
    const [member] = NETWORK.members ?? [];
    if (member !== undefined) desired.set('pods:red/a', { members: [member] });
    expect(differences()).toEqual([
      {
        key: expect.any(String),
        kind: 'missing',
        owners: ['pods:red/a'],
        desired: expect.stringMatching(/^cannot be/),
      },
    ]);
  });
});
