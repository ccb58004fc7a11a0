/** Random wishes and random disturbances of a northbound database, for tests that expect the one to survive the other. */
import fc from 'fast-check';
import type { OvnNorthbound } from '../models/ovn-northbound.gen.ts';
import type { Operation } from '../transact/operation.ts';
import type { DesiredFragment, DesiredRow, Member, Patch } from './types.ts';
import { foreignRef, rowRef } from './types.ts';

export const OWNER_KEY = 'ovn-udn/key';

export type Row = DesiredRow<OvnNorthbound>;
export type Fragments = ReadonlyMap<string, DesiredFragment<OvnNorthbound>>;

const pick = (prefix: string, count: number): fc.Arbitrary<string> => fc.nat(count - 1).map((n) => `${prefix}${n}`);

const ids = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'), { maxKeys: 3 });
/** A column that is managed, or not. */
const maybe = <K extends string, V>(name: K, value: fc.Arbitrary<V>): fc.Arbitrary<{ [N in K]?: V }> =>
  fc.option(value, { nil: undefined }).map((it) => (it === undefined ? {} : ({ [name]: it } as { [N in K]?: V })));

const columns = <A, B, C>(a: fc.Arbitrary<A>, b: fc.Arbitrary<B>, c: fc.Arbitrary<C>): fc.Arbitrary<A & B & C> =>
  fc.tuple(a, b, c).map(([x, y, z]) => ({ ...x, ...y, ...z }));

const refs = (prefix: string, count: number) =>
  fc.uniqueArray(pick(prefix, count), { maxLength: 2 }).map((keys) => keys.map(rowRef));

const logicalSwitch: fc.Arbitrary<Row> = fc
  .tuple(
    pick('s', 3),
    columns(maybe('other_config', ids), maybe('ports', fc.constant([])), maybe('load_balancer_group', refs('g', 3))),
    maybe('external_ids', ids),
  )
  .map(([key, some, more]) => ({ table: 'Logical_Switch', key, columns: { name: key, ...some, ...more } }));

const port: fc.Arbitrary<Row> = fc
  .tuple(
    pick('p', 5),
    pick('n', 6),
    columns(
      maybe('addresses', fc.uniqueArray(fc.constantFrom('x', 'y', 'z'))),
      maybe('options', ids),
      maybe('dhcpv4_options', pick('d', 2).map(rowRef)),
    ),
    maybe('tag', fc.constantFrom(1, 2, undefined)),
  )
  .map(([key, name, some, more]) => ({ table: 'Logical_Switch_Port', key, columns: { name, ...some, ...more } }));

const acl: fc.Arbitrary<Row> = fc.tuple(pick('a', 3), fc.nat(2)).map(([key, priority]) => ({
  table: 'ACL',
  key,
  columns: { priority, match: 'ip', direction: 'to-lport', action: 'drop' },
}));

const portGroup: fc.Arbitrary<Row> = fc
  .tuple(
    pick('pg', 2),
    columns(maybe('ports', fc.constant([])), maybe('acls', refs('a', 3)), maybe('external_ids', ids)),
  )
  .map(([key, some]) => ({ table: 'Port_Group', key, columns: { name: key, ...some } }));

const addressSet: fc.Arbitrary<Row> = fc
  .tuple(pick('as', 2), maybe('addresses', fc.uniqueArray(fc.constantFrom('1', '2', '3'))))
  .map(([key, some]) => ({ table: 'Address_Set', key, columns: { name: key, ...some } }));

const group: fc.Arbitrary<Row> = pick('g', 3).map((key) => ({
  table: 'Load_Balancer_Group',
  key,
  columns: { name: `name-of-${key}` },
}));

const meter: fc.Arbitrary<Row> = pick('m', 2).map((key) => ({
  table: 'Meter',
  key,
  columns: { name: key, unit: 'pktps', bands: [rowRef('band')] },
}));

const band: fc.Arbitrary<Row> = fc.nat(2).map((rate) => ({
  table: 'Meter_Band',
  key: 'band',
  columns: { action: 'drop', rate: rate + 1 },
}));

const dhcp: fc.Arbitrary<Row> = pick('d', 2).map((key) => ({
  table: 'DHCP_Options',
  key,
  columns: { cidr: '10.0.0.0/8' },
}));

const row: fc.Arbitrary<Row> = fc.oneof(
  logicalSwitch,
  port,
  port,
  port,
  acl,
  portGroup,
  addressSet,
  group,
  meter,
  band,
  dhcp,
);

const member: fc.Arbitrary<Member<OvnNorthbound>> = fc.oneof(
  fc.record({ row: pick('s', 3), port: pick('p', 5) }).map(({ row: key, port: element }) => ({
    table: 'Logical_Switch' as const,
    row: key,
    column: 'ports' as const,
    value: rowRef(element),
  })),
  fc.record({ row: pick('pg', 2), port: pick('p', 5) }).map(({ row: key, port: element }) => ({
    table: 'Port_Group' as const,
    row: key,
    column: 'ports' as const,
    value: rowRef(element),
  })),
  fc.record({ row: pick('pg', 2), acl: pick('a', 3) }).map(({ row: key, acl: element }) => ({
    table: 'Port_Group' as const,
    row: key,
    column: 'acls' as const,
    value: rowRef(element),
  })),
  pick('p', 5).map((element) => ({
    table: 'Port_Group' as const,
    row: foreignRef('Port_Group', { name: 'foreign' }),
    column: 'ports' as const,
    value: rowRef(element),
  })),
  fc.record({ row: pick('as', 2), value: fc.constantFrom('1', '2', '3', '4') }).map(({ row: key, value }) => ({
    table: 'Address_Set' as const,
    row: key,
    column: 'addresses' as const,
    value,
  })),
);

const patch: fc.Arbitrary<Patch<OvnNorthbound>> = fc
  .record({ name: fc.constantFrom('zone', 'other'), value: fc.constantFrom('1', '2', null) })
  .map(({ name, value }) => ({ table: 'NB_Global', columns: { name }, entries: { options: { ours: value } } }));

const fragment: fc.Arbitrary<DesiredFragment<OvnNorthbound>> = fc.record({
  rows: fc.array(row, { maxLength: 6 }),
  members: fc.array(member, { maxLength: 6 }),
  patches: fc.array(patch, { maxLength: 1 }),
});

/** What some owners want; rows, members and patches of several owners meet. */
export const fragments: fc.Arbitrary<Fragments> = fc
  .dictionary(pick('owner', 4), fragment, { maxKeys: 4 })
  .map((entries) => new Map(Object.entries(entries)));

/** What somebody else does: a number that `disturb` makes an operation of. */
export interface Disturbance {
  readonly kind: (typeof KINDS)[number];
  readonly pick: number;
  readonly value: number;
}

const KINDS = [
  'delete',
  'detach',
  'attach foreign port',
  'misplace',
  'scribble map',
  'scribble set',
  'rename',
  'lose mark',
  'swap mark',
  'copy',
  'patch',
] as const;

export const disturbances: fc.Arbitrary<readonly Disturbance[]> = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), pick: fc.nat(1000), value: fc.nat(1000) }),
  { maxLength: 5 },
);

/** A row as tests see it, with the table that it is in. */
export interface SeenRow {
  readonly table: string;
  readonly uuid: string;
  readonly columns: Readonly<Record<string, unknown>>;
}

const ROOTS = ['Logical_Switch', 'Port_Group', 'Address_Set', 'Load_Balancer_Group', 'Meter', 'DHCP_Options'];
const SETS = [
  ['Logical_Switch', 'ports'],
  ['Port_Group', 'ports'],
  ['Port_Group', 'acls'],
] as const;

/** The rows that are there before anything of ours is. */
export const FOREIGN_ROWS: readonly Operation[] = [
  { op: 'insert', table: 'NB_Global', row: { options: ['map', [['theirs', 'x']]] } },
  { op: 'insert', table: 'Logical_Switch_Port', row: { name: 'n0' }, 'uuid-name': 'p' },
  { op: 'insert', table: 'Logical_Switch', row: { name: 'foreign', ports: ['set', [['named-uuid', 'p']]] } },
  { op: 'insert', table: 'Port_Group', row: { name: 'foreign', ports: ['set', [['named-uuid', 'p']]] } },
  { op: 'insert', table: 'Address_Set', row: { name: 'as1', addresses: ['set', ['9']] } },
];

/** An operation that changes something that is there; it may fail. */
export const disturb = ({ kind, pick: choice, value }: Disturbance, rows: readonly SeenRow[]): Operation[] => {
  const of = (...tables: string[]): SeenRow | undefined => {
    const found = rows.filter(({ table, columns }) => tables.includes(table) && columns['name'] !== 'foreign');
    return found[choice % Math.max(found.length, 1)];
  };
  const changed = (row: SeenRow | undefined, columns: Readonly<Record<string, unknown>>): Operation[] =>
    row === undefined ? [] : [{ op: 'update', table: row.table, where: byUuid(row), row: columns as never }];
  switch (kind) {
    case 'delete': {
      const row = of(...ROOTS);
      return row === undefined ? [] : [{ op: 'delete', table: row.table, where: byUuid(row) }];
    }
    case 'detach':
      return detach(rows, choice, value);
    case 'attach foreign port': {
      const row = of('Logical_Switch');
      return row === undefined ? [] : attach(row, value);
    }
    case 'misplace':
      return misplace(rows, choice, value);
    case 'scribble map':
      return changed(of('Logical_Switch'), { other_config: ['map', [['a', String(value % 3)]]] });
    case 'scribble set':
      return [
        ...changed(of('Address_Set'), { addresses: ['set', [String(value % 5), 'other']] }),
        ...changed(of('Logical_Switch_Port'), { addresses: ['set', [String(value % 5)]] }),
      ];
    case 'rename':
      return changed(of('Logical_Switch_Port', 'Port_Group', 'Address_Set', 'Logical_Switch'), {
        name: `n${value % 8}`,
      });
    case 'lose mark':
      return changed(of(...ROOTS, 'Logical_Switch_Port'), { external_ids: ['map', []] });
    case 'swap mark':
      return changed(of('Logical_Switch', 'Logical_Switch_Port'), {
        external_ids: ['map', [[OWNER_KEY, ['s0', 's1', 'p0', 'p1', 'gone'][value % 5]]]],
      });
    case 'copy': {
      const row = of('Logical_Switch', 'DHCP_Options');
      const mark = ['s0', 's1', 'd0', 'gone'][value % 4] ?? '';
      if (row === undefined) return [];
      return [{ op: 'insert', table: row.table, row: { external_ids: ['map', [[OWNER_KEY, mark]]] } }];
    }
    case 'patch':
      return changed(of('NB_Global'), { name: `z${value % 2}`, options: ['map', [['ours', String(value % 3)]]] });
  }
};

const byUuid = ({ uuid }: SeenRow) => [['_uuid', '==', ['uuid', uuid]]] as const;

const detach = (rows: readonly SeenRow[], choice: number, value: number): Operation[] => {
  const [table, column] = SETS[choice % SETS.length] ?? SETS[0];
  const parents = rows.filter((row) => row.table === table && Array.isArray(row.columns[column]));
  const parent = parents[value % Math.max(parents.length, 1)];
  const elements = parent?.columns[column] as readonly string[] | undefined;
  const element = elements?.[value % Math.max(elements.length, 1)];
  if (parent === undefined || element === undefined) return [];
  return [
    { op: 'mutate', table, where: byUuid(parent), mutations: [[column, 'delete', ['set', [['uuid', element]]]]] },
  ];
};

/** Puts a row of ours where it need not belong, in a row of ours or in another. */
const misplace = (rows: readonly SeenRow[], choice: number, value: number): Operation[] => {
  const [table, column] = SETS[choice % SETS.length] ?? SETS[0];
  const parents = rows.filter((row) => row.table === table);
  const children = rows.filter((row) => row.table === (column === 'acls' ? 'ACL' : 'Logical_Switch_Port'));
  const parent = parents[value % Math.max(parents.length, 1)];
  const child = children[choice % Math.max(children.length, 1)];
  if (parent === undefined || child === undefined) return [];
  return [
    { op: 'mutate', table, where: byUuid(parent), mutations: [[column, 'insert', ['set', [['uuid', child.uuid]]]]] },
  ];
};

const attach = (row: SeenRow, value: number): Operation[] => [
  { op: 'insert', table: 'Logical_Switch_Port', row: { name: `n${value % 8}` }, 'uuid-name': 'p' },
  {
    op: 'mutate',
    table: row.table,
    where: byUuid(row),
    mutations: [['ports', 'insert', ['set', [['named-uuid', 'p']]]]],
  },
];
