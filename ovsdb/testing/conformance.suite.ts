/** What a database does with transactions, for real servers and for the one in memory. */
import { describe, expect, it } from 'vitest';
import type { Operation } from '../transact/operation.ts';

export interface DatabaseUnderTest extends AsyncDisposable {
  /** The results as the server sends them. */
  transact(operations: readonly Operation[]): Promise<readonly unknown[]>;
}

interface Case {
  readonly name: string;
  /** Transactions; all must succeed. */
  readonly given?: readonly (readonly Operation[])[];
  readonly transaction: readonly Operation[];
  /** The error of the last result that is not null. */
  readonly error?: string;
  /** Table → the desired values of a column, sorted. */
  readonly expected?: Readonly<Record<string, readonly unknown[]>>;
}

const port = (name: string, uuidName = name): Operation => ({
  op: 'insert',
  table: 'Logical_Switch_Port',
  row: { name },
  'uuid-name': uuidName,
});
const sw = (name: string, ...ports: string[]): Operation => ({
  op: 'insert',
  table: 'Logical_Switch',
  row: { name, ports: ['set', ports.map((it) => ['named-uuid', it])] },
});
const group = (name: string, ...ports: string[]): Operation => ({
  op: 'insert',
  table: 'Port_Group',
  row: { name, ports: ['set', ports.map((it) => ['named-uuid', it])] },
});
const config = (...pairs: [string, string][]): Operation => ({
  op: 'update',
  table: 'Logical_Switch',
  where: [],
  row: { other_config: ['map', pairs] },
});
const mutateConfig = (
  mutator: 'insert' | 'delete',
  value: ['map', [string, string][]] | ['set', string[]],
): Operation => ({
  op: 'mutate',
  table: 'Logical_Switch',
  where: [],
  mutations: [['other_config', mutator, value]],
});

const UUIDS = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [string, string, string];
const chosen = (name: string, index: 1 | 2): Operation => ({
  op: 'insert',
  table: 'Logical_Switch_Port',
  row: { name },
  uuid: UUIDS[index],
});
const emptyTable = (table: string): Operation => ({
  ...{ op: 'wait', timeout: 0, table, where: [], columns: ['_uuid'], until: '==', rows: [] },
});

const FORWARDING_GROUP = { name: 'f', vip: 'v', vmac: 'm', child_port: ['set', ['p']] } as const;

/** Columns by which the rows of a table are compared. */
const COLUMNS: Readonly<Record<string, string>> = {
  Logical_Switch: 'name',
  Logical_Switch_Port: 'name',
  Port_Group: 'name',
};

const CASES: readonly Case[] = [
  {
    name: 'resolves a named uuid that is defined later',
    transaction: [sw('s', 'p'), port('p')],
    expected: { Logical_Switch: ['s'], Logical_Switch_Port: ['p'] },
  },
  {
    name: 'gives rows the uuids that the client chooses, which others refer to before and afterwards',
    given: [
      [
        { op: 'insert', table: 'Logical_Switch', row: { name: 's', ports: ['uuid', UUIDS[1]] }, uuid: UUIDS[0] },
        chosen('p', 1),
      ],
    ],
    transaction: [
      chosen('q', 2),
      {
        op: 'mutate',
        table: 'Logical_Switch',
        where: [['_uuid', '==', ['uuid', UUIDS[0]]]],
        mutations: [['ports', 'insert', ['set', [['uuid', UUIDS[2]]]]]],
      },
    ],
    expected: {
      Logical_Switch_Port: ['p', 'q'],
      'Logical_Switch.ports': [
        [
          'set',
          [
            ['uuid', UUIDS[1]],
            ['uuid', UUIDS[2]],
          ],
        ],
      ],
    },
  },
  {
    name: 'refuses a uuid that a row of the table has',
    given: [[{ op: 'insert', table: 'Port_Group', row: { name: 'a' }, uuid: UUIDS[0] }]],
    transaction: [{ op: 'insert', table: 'Port_Group', row: { name: 'b' }, uuid: UUIDS[0] }],
    error: 'duplicate uuid',
    expected: { Port_Group: ['a'] },
  },
  {
    name: 'lets a transaction fail that waits for an empty table',
    given: [[sw('s')]],
    transaction: [emptyTable('Logical_Switch'), sw('t')],
    error: 'timed out',
    expected: { Logical_Switch: ['s'] },
  },
  {
    name: 'goes on when a table is as empty as it waits for',
    transaction: [emptyTable('Logical_Switch'), sw('t')],
    expected: { Logical_Switch: ['t'] },
  },
  { name: 'collects rows that nothing refers to', transaction: [port('p')], expected: { Logical_Switch_Port: [] } },
  {
    name: 'collects rows with the row that referred to them, and weak references to them',
    given: [[port('p'), sw('s', 'p'), group('g', 'p')]],
    transaction: [{ op: 'delete', table: 'Logical_Switch', where: [] }],
    expected: { Logical_Switch: [], Logical_Switch_Port: [], Port_Group: ['g'] },
  },
  {
    name: 'collects a row that was taken out of its set',
    given: [[port('p'), sw('s', 'p')]],
    transaction: [{ op: 'update', table: 'Logical_Switch', where: [], row: { ports: ['set', []] } }],
    expected: { Logical_Switch: ['s'], Logical_Switch_Port: [] },
  },
  {
    name: 'refuses a strong reference to nothing',
    transaction: [sw('s', 'nothing')],
    error: 'referential integrity violation',
    expected: { Logical_Switch: [] },
  },
  {
    name: 'refuses a second row with the same unique value, and everything with it',
    transaction: [group('g'), sw('s'), group('g')],
    error: 'constraint violation',
    expected: { Logical_Switch: [], Port_Group: [] },
  },
  {
    name: 'lets unique values be exchanged within a transaction',
    given: [[group('a'), group('b')]],
    transaction: [
      { op: 'update', table: 'Port_Group', where: [['name', '==', 'a']], row: { name: 'c' } },
      { op: 'update', table: 'Port_Group', where: [['name', '==', 'b']], row: { name: 'a' } },
    ],
    expected: { Port_Group: ['a', 'c'] },
  },
  {
    name: 'refuses more rows than a table may have',
    transaction: [
      { op: 'insert', table: 'NB_Global', row: {} },
      { op: 'insert', table: 'NB_Global', row: {} },
    ],
    error: 'constraint violation',
  },
  {
    name: 'refuses a value that is not in the enumeration',
    transaction: [{ op: 'insert', table: 'Meter', row: { name: 'm', unit: 'bogus' } }],
    error: 'constraint violation',
  },
  {
    name: 'refuses a string that is longer than the column takes',
    transaction: [
      {
        ...{ op: 'insert', table: 'ACL' },
        row: { name: 'n'.repeat(64), action: 'drop', direction: 'to-lport', match: 'ip4', priority: 1 },
      },
    ],
    error: 'constraint violation',
  },
  {
    name: 'keeps an entry of a map that is inserted again',
    given: [[sw('s')], [config(['a', '1'])]],
    transaction: [
      mutateConfig('insert', [
        'map',
        [
          ['a', '2'],
          ['b', '3'],
        ],
      ]),
    ],
    expected: {
      'Logical_Switch.other_config': [
        [
          'map',
          [
            ['a', '1'],
            ['b', '3'],
          ],
        ],
      ],
    },
  },
  {
    name: 'deletes entries of a map by key, and by key and value',
    given: [[sw('s')], [config(['a', '1'], ['b', '2'], ['c', '3'])]],
    transaction: [
      mutateConfig('delete', ['set', ['a', 'x']]),
      mutateConfig('delete', [
        'map',
        [
          ['b', '2'],
          ['c', '9'],
        ],
      ]),
    ],
    expected: { 'Logical_Switch.other_config': [['map', [['c', '3']]]] },
  },
  {
    name: 'takes the element out of an optional column',
    given: [[port('p'), sw('s', 'p')], [{ op: 'update', table: 'Logical_Switch_Port', where: [], row: { tag: 5 } }]],
    transaction: [
      { op: 'mutate', table: 'Logical_Switch_Port', where: [], mutations: [['tag', 'delete', ['set', [5]]]] },
    ],
    expected: { 'Logical_Switch_Port.tag': [['set', []]] },
  },
  {
    name: 'refuses a set that has become too small',
    given: [
      [
        { op: 'insert', table: 'Meter_Band', row: { action: 'drop', rate: 1 }, 'uuid-name': 'b' },
        { op: 'insert', table: 'Meter', row: { name: 'm', unit: 'pktps', bands: ['named-uuid', 'b'] } },
      ],
    ],
    transaction: [{ op: 'update', table: 'Meter', where: [], row: { bands: ['set', []] } }],
    error: 'syntax error',
  },
  {
    name: 'refuses to take the last element out of a set that needs one',
    given: [
      [
        { op: 'insert', table: 'Forwarding_Group', row: FORWARDING_GROUP, 'uuid-name': 'f' },
        { op: 'insert', table: 'Logical_Switch', row: { forwarding_groups: ['named-uuid', 'f'] } },
      ],
    ],
    transaction: [
      { op: 'mutate', table: 'Forwarding_Group', where: [], mutations: [['child_port', 'delete', ['set', ['p']]]] },
    ],
    error: 'constraint violation',
  },
  {
    name: 'finds rows by what their sets and maps include',
    given: [[port('p'), sw('s', 'p'), sw('t')], [config(['a', '1'])]],
    transaction: [
      {
        op: 'delete',
        table: 'Logical_Switch',
        where: [
          ['other_config', 'includes', ['map', [['a', '1']]]],
          ['ports', '==', ['set', []]],
        ],
      },
    ],
    expected: { Logical_Switch: ['s'] },
  },
  {
    name: 'lets a transaction fail that waits for what is not so',
    given: [[sw('s')]],
    transaction: [
      {
        op: 'wait',
        timeout: 0,
        table: 'Logical_Switch',
        where: [],
        columns: ['name'],
        until: '==',
        rows: [{ name: 'x' }],
      },
      sw('t'),
    ],
    error: 'timed out',
    expected: { Logical_Switch: ['s'] },
  },
  {
    name: 'goes on when it waits for what is so',
    given: [[sw('s')]],
    transaction: [
      {
        op: 'wait',
        timeout: 0,
        table: 'Logical_Switch',
        where: [['name', '==', 't']],
        columns: ['name'],
        until: '==',
        rows: [],
      },
      sw('t'),
    ],
    expected: { Logical_Switch: ['s', 't'] },
  },
  { name: 'aborts', transaction: [sw('s'), { op: 'abort' }], error: 'aborted', expected: { Logical_Switch: [] } },
  {
    name: 'knows its columns',
    transaction: [{ op: 'insert', table: 'Logical_Switch', row: { x: 1 } }],
    error: 'unknown column',
  },
  { name: 'knows its tables', transaction: [{ op: 'insert', table: 'Nope', row: {} }], error: 'syntax error' },
];

export const describeDatabase = (name: string, create: () => Promise<DatabaseUnderTest>): void => {
  describe(name, () => {
    it.each(CASES)('$name', async ({ given = [], transaction, error, expected = {} }) => {
      await using database = await create();
      for (const operations of given) expect(errorOf(await database.transact(operations))).toBeUndefined();
      expect(errorOf(await database.transact(transaction))).toBe(error);
      for (const [what, values] of Object.entries(expected)) {
        const [table = '', column = COLUMNS[table] ?? ''] = what.split('.');
        const [result] = await database.transact([{ op: 'select', table, where: [], columns: [column] }]);
        const rows = (result as { rows: Record<string, unknown>[] }).rows;
        expect(rows.map((row) => row[column]).sort()).toEqual(values);
      }
    });
  });
};

const errorOf = (results: readonly unknown[]): unknown =>
  results.map((result) => (result as { error?: unknown } | null)?.error).find((it) => it !== undefined);
