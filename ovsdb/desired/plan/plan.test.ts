import { beforeEach, describe, expect, it } from 'vitest';
import { type OvnNorthbound, ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import { MemoryDatabase } from '../../testing/memory/database.ts';
import { mirrorOf } from '../../testing/memory/mirror.ts';
import type { Operation } from '../../transact/operation.ts';
import { DesiredRows } from '../desired-rows.ts';
import { garbageUnits } from '../garbage.ts';
import { targetId, uuidId } from '../identity.ts';
import { type DesiredFragment, foreignRef, rowRef } from '../types.ts';
import { type Unit, unitId } from '../unit.ts';
import { ActualRows } from './actual-rows.ts';
import { plan } from './plan.ts';

const KEY = 'ovn-udn/key';
type Fragment = DesiredFragment<OvnNorthbound>;

let database: MemoryDatabase;
let desired: DesiredRows<OvnNorthbound>;
let actual: ActualRows;
beforeEach(() => {
  database = new MemoryDatabase(ovnNorthbound);
  desired = new DesiredRows();
  actual = new ActualRows({ store: mirrorOf(database, KEY), ownerKey: KEY });
});

const planAll = () => {
  const wishes = desired as unknown as DesiredRows;
  return plan({ desired: wishes, actual, units: [...wishes.units(), ...garbageUnits(wishes, actual)] });
};

/** The plan as text, one line per operation; the database is then as planned. */
const apply = (): string[] => {
  const { operations } = planAll();
  const lines = operations.map(describeOperation);
  expect(JSON.stringify(database.transact(operations))).not.toContain('error');
  expect(planAll().operations).toEqual([]);
  return lines;
};

/** Rows by name, and without the brackets of JSON. */
const describeOperation = (operation: Operation): string => {
  const text = (value: unknown): string =>
    JSON.stringify(value)
      .replaceAll(/["[\]]/g, '')
      .replaceAll(/,/g, ' ');
  const name = (uuid: string): string => {
    const row = [...actual.store.tableNames].map((table) => actual.store.get(table, uuid as never)).find((it) => it);
    return String(row?.['name'] ?? row?.['ip_prefix'] ?? uuid);
  };
  const line = (() => {
    switch (operation.op) {
      case 'insert':
        return `insert ${operation.table} ${operation['uuid-name']}: ${text(operation.row)}`;
      case 'update':
        return `update ${operation.table} ${text(operation.where)}: ${text(operation.row)}`;
      case 'mutate':
        return `mutate ${operation.table} ${text(operation.where)}: ${text(operation.mutations)}`;
      default:
        return `${operation.op} ${text(operation)}`;
    }
  })();
  return line.replaceAll(/uuid ([0-9a-f-]{36})/g, (_, uuid: string) => name(uuid)).replaceAll('_uuid == ', '');
};

const held = (fragment: Fragment): string => {
  desired.set('owner', fragment);
  const { outcomes, operations } = planAll();
  expect(operations).toEqual([]);
  const [first] = [...outcomes.values()].filter((outcome) => outcome.kind === 'held');
  return first?.kind === 'held' ? `${first.code}: ${first.message}` : 'nothing is held';
};

const NETWORK: Fragment = {
  rows: [
    { table: 'Logical_Switch', key: 'LS/s', columns: { name: 's', other_config: { subnet: '10.0.0.0/24' } } },
    { table: 'Address_Set', key: 'AS/a', columns: { name: 'a', addresses: [] } },
    { table: 'Logical_Router', key: 'LR/r', columns: { name: 'r' } },
    { table: 'Logical_Router_Static_Route', key: 'LRSR/x', columns: { ip_prefix: '0.0.0.0/0', nexthop: '1.1.1.1' } },
  ],
  members: [{ table: 'Logical_Router', row: 'LR/r', column: 'static_routes', value: rowRef('LRSR/x') }],
};
const POD: Fragment = {
  rows: [
    { table: 'Logical_Switch_Port', key: 'LSP/p', columns: { name: 'p', addresses: ['m 10.0.0.5'], tag: undefined } },
  ],
  members: [
    { table: 'Logical_Switch', row: 'LS/s', column: 'ports', value: rowRef('LSP/p') },
    { table: 'Address_Set', row: 'AS/a', column: 'addresses', value: '10.0.0.5' },
  ],
};

describe('plan', () => {
  it('inserts rows with what refers to them, and changes only what differs', () => {
    desired.set('net', NETWORK);
    expect(apply()).toEqual([
      'insert Logical_Switch row0: {name:s other_config:map subnet 10.0.0.0/24 external_ids:map ovn-udn/key LS/s}',
      'insert Address_Set row1: {name:a external_ids:map ovn-udn/key AS/a}',
      'insert Logical_Router_Static_Route row3: {ip_prefix:0.0.0.0/0 nexthop:1.1.1.1 external_ids:map ovn-udn/key LRSR/x}',
      'insert Logical_Router row2: {name:r static_routes:set named-uuid row3 external_ids:map ovn-udn/key LR/r}',
    ]);
    desired.set('pod', POD);
    expect(apply()).toEqual([
      'insert Logical_Switch_Port row0: {name:p addresses:set m 10.0.0.5 external_ids:map ovn-udn/key LSP/p}',
      'update Address_Set a: {addresses:set 10.0.0.5}',
      'mutate Logical_Switch s: ports insert set named-uuid row0',
    ]);
    const [first] = NETWORK.rows ?? [];
    desired.set('net', {
      ...NETWORK,
      rows: [
        {
          table: 'Logical_Switch',
          key: 'LS/s',
          columns: { name: 't', other_config: { subnet: '10.0.0.0/24', x: 'y' } },
        },
        ...(NETWORK.rows ?? []).filter((row) => row !== first),
      ],
    });
    expect(apply()).toEqual([
      'update Logical_Switch s: {name:t}',
      'mutate Logical_Switch s: other_config insert map x y',
    ]);
  });

  it('lets go of rows that live in others, and deletes the others', () => {
    desired.set('net', NETWORK);
    desired.set('pod', POD);
    apply();
    desired.delete('pod');
    expect(apply()).toEqual(['mutate Logical_Switch s: ports delete set p', 'update Address_Set a: {addresses:set }']);
    desired.set('net', { rows: [{ table: 'Logical_Router', key: 'LR/r', columns: { name: 'r' } }] });
    expect(apply()).toEqual([
      'mutate Logical_Router r: static_routes delete set 0.0.0.0/0',
      'delete {op:delete table:Address_Set where:a}',
      'delete {op:delete table:Logical_Switch where:s}',
    ]);
  });

  it('leaves elements alone that are not ours, unless the set is given', () => {
    desired.set('net', NETWORK);
    apply();
    database.transact([
      { op: 'insert', table: 'Logical_Switch_Port', row: { name: 'theirs' }, 'uuid-name': 'x' },
      {
        op: 'mutate',
        table: 'Logical_Switch',
        where: [],
        mutations: [['ports', 'insert', ['set', [['named-uuid', 'x']]]]],
      },
      { op: 'update', table: 'Address_Set', where: [], row: { addresses: 'stale' } },
    ]);
    desired.set('pod', POD);
    expect(apply()).toEqual([
      expect.stringContaining('insert Logical_Switch_Port'),
      'update Address_Set a: {addresses:set 10.0.0.5}',
      'mutate Logical_Switch s: ports insert set named-uuid row0',
    ]);
    expect(database.rows('Logical_Switch_Port').map(({ name }) => name)).toEqual(['theirs', 'p']);
  });

  it('replaces an entry of a map in two steps, since inserting does not overwrite', () => {
    const withConfig = (other_config: Record<string, string>): Fragment => ({
      rows: [{ table: 'Logical_Switch', key: 's', columns: { name: 's', other_config } }],
    });
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`k${index}`, 'v']));
    desired.set('net', withConfig(many));
    apply();
    desired.set('net', withConfig({ ...many, k3: 'w' }));
    expect(apply()).toEqual(['mutate Logical_Switch s: other_config delete set k3 other_config insert map k3 w']);
    desired.set('net', withConfig({ other: 'x' }));
    expect(apply()).toEqual(['update Logical_Switch s: {other_config:map other x}']);
  });

  it('tells rows of tables without external_ids by their unique index', () => {
    const binding = (mac: string): Fragment => ({
      rows: [{ table: 'Static_MAC_Binding', key: 'SMB/p', columns: { logical_port: 'p', ip: '10.0.0.1', mac } }],
    });
    database.transact([
      { op: 'insert', table: 'Static_MAC_Binding', row: { logical_port: 'p', ip: '10.0.0.1', mac: 'old' } },
      { op: 'insert', table: 'Static_MAC_Binding', row: { logical_port: 'q', ip: '10.0.0.1', mac: 'other' } },
    ]);
    desired.set('net', binding('new'));
    expect(apply()).toEqual([expect.stringMatching(/^update Static_MAC_Binding .*: \{mac:new\}$/)]);
    expect(database.rows('Static_MAC_Binding').map(({ mac }) => mac)).toEqual(['new', 'other']);
  });

  it('takes nothing away that is wanted under another name of it, or of the row where it is', () => {
    desired.set('net', NETWORK);
    desired.set('pod', POD);
    desired.set('sets', {
      rows: [
        { table: 'Address_Set', key: 'AS/given', columns: { name: 'given', addresses: ['x'] } },
        { table: 'Address_Set', key: 'AS/open', columns: { name: 'open' } },
      ],
    });
    apply();
    const open = foreignRef('Address_Set', { name: 'open' });
    desired.set('y', { members: [{ table: 'Address_Set', row: open, column: 'addresses', value: 'y' }] });
    apply();
    const uuidOf = (table: string, name: string): string =>
      uuidId(String(database.rows(table).find((row) => row['name'] === name)?._uuid));
    const ports = { kind: 'member', table: 'Logical_Switch', column: 'ports' } as const;
    const addresses = { kind: 'member', table: 'Address_Set', column: 'addresses' } as const;
    const units: Unit[] = [
      { ...ports, target: uuidOf('Logical_Switch', 's'), element: 'LSP/p' },
      { ...ports, target: 'LS/s', element: uuidOf('Logical_Switch_Port', 'p') },
      { ...ports, target: 'LS/s', element: targetId(foreignRef('Logical_Switch_Port', { name: 'p' })) },
      { ...addresses, target: uuidOf('Address_Set', 'given'), element: 'x' },
      { ...addresses, target: 'AS/open', element: 'y' },
    ];
    const { operations, outcomes } = plan({ desired: desired as unknown as DesiredRows, actual, units });
    expect(operations).toEqual([]);
    expect([...outcomes.values()]).toEqual(units.map(() => ({ kind: 'satisfied' })));
  });

  it('removes a second row with the same key where the first one is right', () => {
    desired.set('net', { rows: [{ table: 'Logical_Switch', key: 'LS/s', columns: { name: 's' } }] });
    apply();
    const row = { name: 's', external_ids: ['map', [[KEY, 'LS/s']]] } as const;
    const copy: Operation = { op: 'insert', table: 'Logical_Switch', row };
    database.transact([copy]);
    expect(apply()).toHaveLength(1);
  });

  it('keeps one of several rows with the same key, always the same', () => {
    const copy: Operation = {
      op: 'insert',
      table: 'Logical_Switch',
      row: { name: 'copy', external_ids: ['map', [[KEY, 'LS/s']]] },
    };
    database.transact([copy, copy, copy]);
    const smallest = database
      .rows('Logical_Switch')
      .map(({ _uuid }) => _uuid)
      .sort()[0];
    desired.set('net', NETWORK);
    apply();
    expect(database.rows('Logical_Switch').map(({ _uuid, name }) => [_uuid, name])).toEqual([[smallest, 's']]);
  });

  it('puts what patches want into the row that it inserts', () => {
    desired.set('a', {
      rows: [
        { table: 'Logical_Switch', key: 'ls', columns: { name: 'ls', ports: [rowRef('p')] } },
        { table: 'Logical_Switch_Port', key: 'p', columns: { name: 'p', options: { mine: '1' } } },
      ],
    });
    const at = { name: 'p' };
    desired.set('b', {
      patches: [
        { table: 'Logical_Switch_Port', at, entries: { options: { mine: '2', other: '3', gone: null } } },
        { table: 'Logical_Switch_Port', at: { name: 'q' }, entries: { options: { far: '4' } } },
      ],
    });
    const { operations } = planAll();
    expect(operations.map(describeOperation)).toContainEqual(expect.stringContaining('options:map mine 1 other 3'));
  });

  it('patches rows that are not ours', () => {
    database.transact([
      {
        op: 'insert',
        table: 'NB_Global',
        row: {
          options: [
            'map',
            [
              ['theirs', '1'],
              ['old', '2'],
            ],
          ],
        },
      },
    ]);
    desired.set('zone', {
      patches: [
        {
          table: 'NB_Global',
          columns: { name: 'node1' },
          entries: { options: { old: null, mine: '3', absent: null } },
        },
      ],
    });
    expect(apply()).toEqual([
      expect.stringContaining('{name:node1}'),
      expect.stringContaining(': options delete set old options insert map mine 3'),
    ]);
    desired.delete('zone');
    expect(apply()).toEqual([]);
  });

  it.each<[string, Fragment]>([
    [
      'ERR_OVSDB_UNRESOLVED: "p" cannot be written: nothing refers to it',
      { rows: POD.rows?.map((row) => ({ ...row, key: 'p' })) ?? [] },
    ],
    [
      'ERR_OVSDB_UNRESOLVED: "s" refers in copp to "nowhere", which does not exist',
      { rows: [{ table: 'Logical_Switch', key: 's', columns: { copp: rowRef('nowhere') } }] },
    ],
    [
      'ERR_OVSDB_INVALID: "s": name: expected string, got 5',
      { rows: [{ table: 'Logical_Switch', key: 's', columns: { name: 5 as unknown as string } }] },
    ],
    [
      `ERR_OVSDB_INVALID: "a": name: expected at most 63 characters, got 64: "${'n'.repeat(64)}"`,
      { rows: [{ table: 'ACL', key: 'a', columns: { name: 'n'.repeat(64) } }] },
    ],
    [
      'ERR_OVSDB_INVALID: "b": a row of Static_MAC_Binding cannot be recognised without the columns of a unique index',
      { rows: [{ table: 'Static_MAC_Binding', key: 'b', columns: { mac: 'm' } }] },
    ],
    [
      'ERR_OVSDB_UNRESOLVED: the row of NB_Global does not exist and cannot be patched',
      { patches: [{ table: 'NB_Global', columns: { name: 'x' } }] },
    ],
  ])('holds back with %j', (message, fragment) => expect(held(fragment)).toBe(message));

  it('blames nobody but the owner of an operation', () => {
    desired.set('net', NETWORK);
    desired.set('pod', POD);
    const { operations, owners } = planAll();
    const port = operations.findIndex(
      (operation) => operation.op === 'insert' && operation.table === 'Logical_Switch_Port',
    );
    expect(owners[port]).toEqual(['pod']);
    expect(new Set(owners.flat())).toEqual(new Set(['net', 'pod']));
  });

  it('leaves out owners that are blocked, and what needs their rows', () => {
    desired.set('net', NETWORK);
    desired.set('pod', POD);
    const wishes = desired as unknown as DesiredRows;
    const { operations, outcomes } = plan({
      desired: wishes,
      actual,
      units: wishes.units(),
      isBlocked: (owner) => owner === 'net',
    });
    expect(operations).toEqual([]);
    expect(outcomes.get(unitId({ kind: 'row', table: 'Logical_Switch_Port', key: 'LSP/p' }))).toMatchObject({
      kind: 'held',
      message: '"LSP/p" cannot be written: "LS/s", which refers to it, does not exist',
    });
  });
});
