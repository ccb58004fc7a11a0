import { describe, expect, it } from 'vitest';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import type { Uuid } from '../uuid.ts';
import { decodeRow } from './decode-row.ts';
import { throwAnyFailure, transactionOutcome } from './outcome.ts';
import { Transaction } from './transaction.ts';

const UUID = '36bef046-7da7-43a5-905a-c17899216fcb' as Uuid;

describe('Transaction', () => {
  it('writes operations as RFC 7047 has them', () => {
    const transaction = new Transaction(ovnNorthbound);
    const port = transaction.insert('Logical_Switch_Port', { name: 'p', tag: 5, options: { a: 'b' } });
    transaction
      .update('Logical_Switch', UUID, { name: 'new', copp: undefined })
      .mutate('Logical_Switch', UUID, 'ports', 'insert', [port])
      .mutate('Logical_Switch', [['name', '==', 'x']], 'other_config', 'delete', ['a', 'b'])
      .mutate('Logical_Switch', [], 'other_config', 'insert', { a: 'b' })
      .mutate('NB_Global', [], 'nb_cfg', '+=', 1)
      .delete('Logical_Switch', [['ports', 'includes', [UUID]]])
      .wait('Logical_Switch', [['name', '==', 'x']], '==', [{ name: 'x' }], { columns: ['name'], timeoutMs: 0 })
      .select('Logical_Switch', [], ['name'])
      .comment('why');
    expect(transaction.operations).toEqual([
      {
        op: 'insert',
        table: 'Logical_Switch_Port',
        row: { name: 'p', tag: 5, options: ['map', [['a', 'b']]] },
        'uuid-name': 'row0',
      },
      {
        op: 'update',
        table: 'Logical_Switch',
        where: [['_uuid', '==', ['uuid', UUID]]],
        row: { name: 'new', copp: ['set', []] },
      },
      {
        op: 'mutate',
        table: 'Logical_Switch',
        where: [['_uuid', '==', ['uuid', UUID]]],
        mutations: [['ports', 'insert', ['set', [['named-uuid', 'row0']]]]],
      },
      {
        op: 'mutate',
        table: 'Logical_Switch',
        where: [['name', '==', 'x']],
        mutations: [['other_config', 'delete', ['set', ['a', 'b']]]],
      },
      {
        op: 'mutate',
        table: 'Logical_Switch',
        where: [],
        mutations: [['other_config', 'insert', ['map', [['a', 'b']]]]],
      },
      { op: 'mutate', table: 'NB_Global', where: [], mutations: [['nb_cfg', '+=', 1]] },
      { op: 'delete', table: 'Logical_Switch', where: [['ports', 'includes', ['set', [['uuid', UUID]]]]] },
      {
        op: 'wait',
        table: 'Logical_Switch',
        where: [['name', '==', 'x']],
        columns: ['name'],
        until: '==',
        rows: [{ name: 'x' }],
        timeout: 0,
      },
      { op: 'select', table: 'Logical_Switch', where: [], columns: ['name'] },
      { op: 'comment', comment: 'why' },
    ]);
  });

  it('refuses values that do not fit', () => {
    const transaction = new Transaction(ovnNorthbound);
    expect(() => transaction.insert('Logical_Switch_Port', { tag: 1.5 })).toThrow(
      expect.objectContaining({ code: 'ERR_OVSDB_SCHEMA' }),
    );
    // @ts-expect-error the table has no such column
    expect(() => transaction.update('Logical_Switch', UUID, { nope: 1 })).toThrow('no column nope');
  });

  it('leaves out columns that the server lacks', () => {
    const { Logical_Switch: table } = ovnNorthbound.tables;
    const { copp: _copp, ...columns } = table.columns;
    const server = { name: '', version: '', tables: { Logical_Switch: { ...table, columns } } };
    const transaction = new Transaction(ovnNorthbound, server)
      .update('Logical_Switch', UUID, { name: 'new', copp: undefined })
      .mutate('Logical_Switch', UUID, 'copp', 'delete', [UUID]);
    expect(transaction.operations).toMatchObject([{ row: { name: 'new' } }, { mutations: [] }]);
    expect(transaction.operations).not.toMatchObject([{ row: { copp: expect.anything() } }, {}]);
    // @ts-expect-error a misspelt column is not an old server
    expect(() => transaction.update('Logical_Switch', UUID, { nope: 1 })).toThrow('no column nope');
  });

  it('reads the rows of a select', () => {
    const row = decodeRow(ovnNorthbound, 'Logical_Switch', { _uuid: ['uuid', UUID], name: 'x', ports: ['uuid', UUID] });
    expect(row).toEqual({ _uuid: UUID, name: 'x', ports: [UUID] });
  });
});

describe('transactionOutcome', () => {
  const operations = [
    { op: 'insert', table: 'A', row: {} },
    { op: 'update', table: 'B', where: [['_uuid', '==', ['uuid', UUID]]], row: {} },
    { op: 'delete', table: 'C', where: [] },
  ] as const;

  it('names the operations that the server blames at commit', () => {
    const results = [
      { uuid: ['uuid', UUID] },
      { count: 1 },
      { count: 0 },
      { error: 'constraint violation', details: `rows "${UUID}" and others` },
    ];
    expect(() => transactionOutcome(operations, results)).toThrow(
      expect.objectContaining({ code: 'ERR_OVSDB_CONSTRAINT_VIOLATION', index: undefined, suspects: [0, 1] }),
    );
  });

  it.each([
    ['referential integrity violation', 'ERR_OVSDB_REFERENTIAL_INTEGRITY'],
    ['constraint violation', 'ERR_OVSDB_CONSTRAINT_VIOLATION'],
    ['duplicate uuid-name', 'ERR_OVSDB_DUPLICATE_UUID_NAME'],
    ['domain error', 'ERR_OVSDB_DOMAIN'],
    ['range error', 'ERR_OVSDB_RANGE'],
    ['timed out', 'ERR_OVSDB_WAIT_TIMED_OUT'],
    ['resources exhausted', 'ERR_OVSDB_RESOURCES_EXHAUSTED'],
    ['I/O error', 'ERR_OVSDB_IO'],
    ['not supported', 'ERR_OVSDB_NOT_SUPPORTED'],
    ['aborted', 'ERR_OVSDB_ABORTED'],
    ['not owner', 'ERR_OVSDB_NOT_OWNER'],
    ['canceled', 'ERR_OVSDB_CANCELED'],
    ['permission error', 'ERR_OVSDB_PERMISSION'],
    ['cluster error', 'ERR_OVSDB_CLUSTER'],
    ['something new', 'ERR_OVSDB_OPERATION'],
  ])('gives "%s" a class and a code', (error, code) => {
    expect(() => transactionOutcome(operations, [{}, { error }, null])).toThrow(
      expect.objectContaining({ code, error, index: 1, operation: operations[1] }),
    );
  });

  it.each([
    [{ details: 'conf.db: write failed' }, 'commit: I/O error: conf.db: write failed'],
    [
      { details: 'conf.db: write failed', 'io-error': 'No space left on device' },
      'commit: I/O error: conf.db: write failed (No space left on device)',
    ],
    [{ 'io-error': 'No space left on device' }, 'commit: I/O error: (No space left on device)'],
    [{}, 'commit: I/O error'],
  ])('says all that the server says of an I/O error: %j', (more, message) => {
    const results = [{}, {}, {}, { error: 'I/O error', ...more }];
    expect(() => transactionOutcome(operations, results)).toThrow(message);
    expect(() => throwAnyFailure(results)).toThrow(message);
  });

  it.each([[null], [[{}]], [[1, 2, 3]]])('refuses %j', (reply) =>
    expect(() => transactionOutcome(operations, reply)).toThrow(
      expect.objectContaining({ code: 'ERR_OVSDB_PROTOCOL' }),
    ),
  );
});
