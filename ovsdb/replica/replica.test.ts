import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sameValue } from '../codec/equal.ts';
import type { Value } from '../codec/value.ts';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import type { DatabaseModel } from '../schema/model.ts';
import { MemoryDatabase } from '../testing/memory/database.ts';
import type { Operation } from '../transact/operation.ts';
import type { Uuid } from '../uuid.ts';
import { elementChange } from './element-change.ts';
import { Replica, type ReplicaUpdate } from './replica.ts';
import type { RowChange } from './row.ts';
import { indexKey } from './row-index.ts';

const TABLES = {
  Logical_Switch: ['name', 'ports', 'other_config'],
  Logical_Switch_Port: ['name', 'tag', 'addresses'],
  Port_Group: ['name', 'ports'],
  Static_MAC_Binding: 'all',
} as const;

const newReplica = () =>
  new Replica({
    model: ovnNorthbound,
    tables: TABLES,
    indexes: { Logical_Switch: { color: ({ other_config }) => other_config['color'] } },
    trackParents: true,
  });

/** A replica that follows a database, in one of the formats. */
const follow = (database: MemoryDatabase, format: 1 | 2) => {
  const replica = newReplica();
  const requests = replica.prepare(database.model);
  const columns = new Map(Object.entries(requests).map(([table, [{ columns: names }]]) => [table, names]));
  const updates: ReplicaUpdate[] = [];
  replica.replace(format, json(database.initial(format, columns)));
  replica.onUpdate((update) => updates.push(update));
  database.watch((before, after) => replica.apply(format, json(database.changes(format, columns, before, after))));
  return { replica, columns, updates };
};

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const name = fc.constantFrom('a', 'b', 'c');
const where = name.map((value) => [['name', '==', value]] as const);
const config = fc
  .dictionary(fc.constantFrom('color', 'x'), fc.constantFrom('red', 'blue'))
  .map((map) => ['map', Object.entries(map)] as const);

const operations: fc.Arbitrary<Operation[]> = fc.oneof(
  fc.tuple(name, name, config).map(([sw, port, other_config]): Operation[] => [
    { op: 'insert', table: 'Logical_Switch_Port', row: { name: port }, 'uuid-name': 'p' },
    { op: 'insert', table: 'Logical_Switch', row: { name: sw, other_config, ports: ['set', [['named-uuid', 'p']]] } },
    { op: 'mutate', table: 'Port_Group', where: [], mutations: [['ports', 'insert', ['set', [['named-uuid', 'p']]]]] },
  ]),
  name.map((it): Operation[] => [{ op: 'insert', table: 'Port_Group', row: { name: it } }]),
  fc
    .tuple(where, config)
    .map(([it, other_config]): Operation[] => [
      { op: 'update', table: 'Logical_Switch', where: it, row: { other_config } },
    ]),
  fc
    .tuple(where, fc.uniqueArray(name), fc.constantFrom(1, 2))
    .map(([it, addresses, tag]): Operation[] => [
      { op: 'update', table: 'Logical_Switch_Port', where: it, row: { addresses: ['set', addresses], tag } },
    ]),
  where.map((it): Operation[] => [
    { op: 'update', table: 'Logical_Switch_Port', where: it, row: { tag: ['set', []] } },
  ]),
  where.map((it): Operation[] => [{ op: 'delete', table: 'Logical_Switch', where: it }]),
  fc
    .tuple(name, name)
    .map(([ip, port]): Operation[] => [{ op: 'insert', table: 'Static_MAC_Binding', row: { ip, logical_port: port } }]),
);

const expectEqual = (replica: ReturnType<typeof newReplica>, database: MemoryDatabase): void => {
  for (const [table, columns] of Object.entries(TABLES)) {
    const rows = database.rows(table);
    expect(replica.store.size(table)).toBe(rows.length);
    for (const row of rows) {
      const copy = replica.store.get(table, row._uuid as Uuid);
      const names = columns === 'all' ? Object.keys(database.model.tables[table]?.columns ?? {}) : columns;
      expect(Object.keys(copy ?? {}).sort()).toEqual(['_uuid', ...names].sort());
      for (const column of names)
        expect(sameValue(copy?.[column], row[column] as Value), `${table}.${column}`).toBe(true);
    }
  }
  for (const row of replica.rows('Logical_Switch')) {
    const color = row.other_config['color'];
    if (color !== undefined) expect(replica.find('Logical_Switch', 'color', color)).toContain(row);
    for (const port of row.ports) expect(replica.store.parentsOf(port)).toContain(row._uuid);
  }
  for (const row of replica.rows('Static_MAC_Binding')) {
    expect(replica.findOne('Static_MAC_Binding', 'logical_port,ip', indexKey([row.logical_port, row.ip]))).toBe(row);
  }
};

describe('Replica', () => {
  it.each([1, 2] as const)('follows a database, format %d', (format) => {
    fc.assert(
      fc.property(fc.array(operations, { maxLength: 25 }), (all) => {
        const database = new MemoryDatabase(ovnNorthbound);
        const { replica } = follow(database, format);
        for (const transaction of all) database.transact(transaction);
        expectEqual(replica, database);
      }),
    );
  });

  it('emits what has changed, so that one who applies it has the same rows', () => {
    fc.assert(
      fc.property(fc.constantFrom(1 as const, 2 as const), fc.array(operations, { maxLength: 25 }), (format, all) => {
        const database = new MemoryDatabase(ovnNorthbound);
        const { replica, updates } = follow(database, format);
        for (const transaction of all) database.transact(transaction);
        const rows = new Map<string, unknown>();
        for (const change of updates.flatMap(({ changes }) => changes)) {
          expect(rows.get(change.uuid)).toBe(change.before);
          if (change.after === undefined) rows.delete(change.uuid);
          else rows.set(change.uuid, change.after);
          expectHonest(change);
        }
        expect(new Set(rows.values())).toEqual(
          new Set(Object.keys(TABLES).flatMap((table) => [...replica.store.rows(table)])),
        );
      }),
    );
  });

  it('emits only real changes when it is given everything again', () => {
    fc.assert(
      fc.property(
        fc.array(operations),
        fc.array(operations),
        fc.constantFrom(1 as const, 2 as const),
        (before, after, format) => {
          const database = new MemoryDatabase(ovnNorthbound);
          for (const transaction of before) database.transact(transaction);
          const replica = newReplica();
          const columns = new Map(
            Object.entries(replica.prepare(database.model)).map(([table, [{ columns: names }]]) => [table, names]),
          );
          replica.replace(format, json(database.initial(format, columns)));
          const old = database.contents;
          for (const transaction of after) database.transact(transaction);
          const changes: RowChange[] = [];
          replica.onUpdate((update) => changes.push(...update.changes));
          replica.replace(format, json(database.initial(format, columns)));
          expectEqual(replica, database);
          const expected = Object.values(database.changes(1, columns, old, database.contents)).flatMap((rows) =>
            Object.keys(rows as object),
          );
          expect(changes.map(({ uuid }) => uuid).sort()).toEqual(expected.sort());
          for (const change of changes) expectHonest(change);
        },
      ),
    );
  });

  it('keeps the columns that did not change', () => {
    const database = new MemoryDatabase(ovnNorthbound);
    const { replica } = follow(database, 2);
    database.transact([
      { op: 'insert', table: 'Logical_Switch', row: { name: 'a', other_config: ['map', [['x', 'y']]] } },
    ]);
    const [before] = replica.rows('Logical_Switch');
    database.transact([{ op: 'update', table: 'Logical_Switch', where: [], row: { name: 'b' } }]);
    const [after] = replica.rows('Logical_Switch');
    expect([before?.name, after?.name]).toEqual(['a', 'b']);
    expect(after?.other_config).toBe(before?.other_config);
  });

  it('restarts when what a message said could not be understood', () => {
    const replica = newReplica();
    replica.prepare(ovnNorthbound as unknown as DatabaseModel);
    const id = '11111111-1111-1111-1111-111111111111';
    replica.replace(2, {}, id);
    expect(replica.lastTransactionId).toBe(id);
    expect(() => replica.apply(2, { Logical_Switch: { nonsense: { delete: null } } }, id)).toThrow('uuid');
    expect(replica.lastTransactionId).toBe('00000000-0000-0000-0000-000000000000');
  });

  it('emits also what it had read of a message that could not be understood to its end', () => {
    const database = new MemoryDatabase(ovnNorthbound);
    const { replica, columns, updates } = follow(database, 2);
    const [parent, child] = ['11111111-0000-4000-8000-000000000000', '22222222-0000-4000-8000-000000000000'] as Uuid[];
    const message = {
      Logical_Switch: { [parent as string]: { insert: { name: 'a', ports: ['uuid', child] } } },
      Logical_Switch_Port: { [child as string]: { insert: { name: 'p' } } },
      Port_Group: { nonsense: {} },
    };
    expect(() => replica.apply(2, message)).toThrow('nonsense');
    expect(updates).toEqual([]);
    replica.replace(2, { ...message, Port_Group: {} });
    expect(updates.flatMap(({ changes }) => changes.map(({ uuid, after }) => [uuid, after?.['name']]))).toEqual([
      [parent, 'a'],
      [child, 'p'],
    ]);
    expect(replica.store.parentsOf(child as Uuid)).toEqual([parent]);
    replica.replace(2, json(database.initial(2, columns)));
    expect(updates.at(-1)?.changes).toHaveLength(2);
  });

  it('refuses tables and columns that the model has not', () => {
    const tables = { Logical_Switch: ['nope'] } as unknown as { Logical_Switch: ['name'] };
    expect(() => new Replica({ model: ovnNorthbound, tables })).toThrow('Logical_Switch has no column nope');
    expect(() => newReplica().find('Logical_Switch', 'nope', 'x')).toThrow('no index');
  });
});

describe('waitFor', () => {
  const setup = () => {
    const database = new MemoryDatabase(ovnNorthbound);
    return { database, ...follow(database, 2) };
  };
  const insert = (port: string): Operation[] => [
    { op: 'insert', table: 'Logical_Switch_Port', row: { name: port }, 'uuid-name': 'p' },
    { op: 'insert', table: 'Logical_Switch', row: { name: port, ports: ['set', [['named-uuid', 'p']]] } },
  ];
  const at = (key: string) => ({ index: 'name', key });

  it('resolves when a row comes, changes or goes', async () => {
    const { database, replica } = setup();
    const come = replica.waitFor('Logical_Switch_Port', at('a'), () => true);
    const tagged = replica.waitFor('Logical_Switch_Port', at('a'), ({ tag }) => tag === 5);
    database.transact(insert('a'));
    const row = await come;
    expect(row.name).toBe('a');
    const gone = replica.waitUntilGone('Logical_Switch_Port', { uuid: row._uuid });
    database.transact([{ op: 'update', table: 'Logical_Switch_Port', where: [], row: { tag: 5 } }]);
    await expect(tagged).resolves.toMatchObject({ _uuid: row._uuid, tag: 5 });
    await expect(replica.waitFor('Logical_Switch_Port', at('a'), ({ tag }) => tag === 5)).resolves.toMatchObject({
      tag: 5,
    });
    database.transact([{ op: 'delete', table: 'Logical_Switch', where: [] }]);
    await gone;
    await replica.waitUntilGone('Logical_Switch_Port', at('a'));
  });

  it('asks only those who wait for the row that changed', async () => {
    const { database, replica } = setup();
    const asked: string[] = [];
    const waits = Array.from({ length: 100 }, (_, index) =>
      replica.waitFor('Logical_Switch_Port', at(`p${index}`), () => {
        asked.push(`p${index}`);
        return true;
      }),
    );
    database.transact(insert('p7'));
    await waits[7];
    expect(asked).toEqual(['p7']);
  });

  it('fails when the test of a row does, without harm to anybody else', async () => {
    const { database, replica } = setup();
    const wrong = replica.waitFor('Logical_Switch_Port', at('a'), () => {
      throw new Error('not this one');
    });
    const right = replica.waitFor('Logical_Switch_Port', at('a'), () => true);
    const failed = expect(wrong).rejects.toThrow('not this one');
    database.transact(insert('a'));
    await failed;
    await right;
  });

  it('ends with the signal, and leaves nothing behind', async () => {
    const { database, replica } = setup();
    const controller = new AbortController();
    let asked = 0;
    const wait = replica.waitFor('Logical_Switch_Port', at('a'), () => asked++ > 100, controller.signal);
    controller.abort(new Error('enough'));
    await expect(wait).rejects.toThrow('enough');
    database.transact(insert('a'));
    expect(asked).toBe(0);
    await expect(replica.waitFor('Logical_Switch_Port', at('b'), () => true, controller.signal)).rejects.toThrow(
      'enough',
    );
  });
});

/** What a change says of itself is what differs between its rows. */
const expectHonest = (change: RowChange): void => {
  const { before, after, columns } = change;
  if (before === undefined || after === undefined) return;
  const differing = Object.keys(after).filter((column) => !sameValue(before[column], after[column]));
  expect([...columns].sort()).toEqual(differing.sort());
  for (const column of ['ports', 'addresses']) {
    if (!(column in after)) continue;
    const { added, removed } = elementChange(change, column);
    const old = before[column] as string[];
    const now = after[column] as string[];
    expect([...added].sort()).toEqual(now.filter((element) => !old.includes(element)).sort());
    expect([...removed].sort()).toEqual(old.filter((element) => !now.includes(element)).sort());
  }
};
