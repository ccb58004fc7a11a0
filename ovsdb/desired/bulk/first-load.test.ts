import { describe, expect, it } from 'vitest';
import type { OvsdbSession } from '../../session/session.ts';
import type { ReconcilerSession } from '../reconcile/needs.ts';
import { type Fragment, KEY, names, pod, SWITCH } from '../reconcile/world.suite.ts';
import { BulkWorld, operationsOf } from './bulk-world.suite.ts';

const PODS = Array.from({ length: 30 }, (_, index) => `pod${String(index).padStart(2, '0')}`);

const wishes = (pods: readonly string[] = PODS): Map<string, Fragment> =>
  new Map([['net', SWITCH], ...pods.map((name): [string, Fragment] => [name, pod(name)])]);

/** Calls back before each transaction of a bulk load. */
const actingBefore =
  (act: (number: number, text: string) => void) =>
  (session: OvsdbSession): ReconcilerSession => {
    let number = 0;
    return {
      reconnect: (reason) => session.reconnect(reason),
      transact: (operations) => session.transact(operations),
      transactText: (text) => {
        act(number++, text);
        return session.transactText(text);
      },
    };
  };

/** The transactions of the bulk load, as lists of operations. */
const recorded = () => {
  const texts: string[] = [];
  return { texts, wrap: actingBefore((_, text) => texts.push(text)) };
};

describe('a bulk load', () => {
  it('writes everything into an empty database, and the comparison finds nothing to do', async () => {
    const { texts, wrap } = recorded();
    await using world = await new BulkWorld({ maxOperations: 10, wrap }).want(wishes()).start();
    await world.reconciler.whenIdle();
    expect(names(world.database, 'Logical_Switch_Port')).toEqual(PODS);
    expect(world.database.rows('Logical_Switch')[0]?.['ports']).toHaveLength(30);
    expect(world.database.rows('Logical_Switch')[0]?.['external_ids']).toEqual({ [KEY]: 's' });
    expect(texts.length).toBeGreaterThan(2);
    expect(world.reconciler.counts).toMatchObject({ transactions: texts.length, failures: 0, driftRepairs: 0 });
    expect(world.reconciler.problems()).toEqual([]);
    expect(world.reconciler.queue()).toMatchObject({ depth: 0, hasCompared: true });
  });

  it('makes sure with its first transaction that the tables are empty', async () => {
    const { texts, wrap } = recorded();
    await using world = await new BulkWorld({ wrap }).want(wishes()).start();
    await world.reconciler.whenIdle();
    expect(operationsOf(texts[0] ?? '').slice(0, 3)).toMatchObject([
      { op: 'wait', table: 'Logical_Switch', where: [], rows: [], timeout: 0 },
      { op: 'wait', table: 'Logical_Switch_Port', where: [], rows: [], timeout: 0 },
      { op: 'insert', table: 'Logical_Switch', row: { name: 's' } },
    ]);
  });

  it('is left alone where a table has a row, whoever it belongs to', async () => {
    const { texts, wrap } = recorded();
    await using world = new BulkWorld({ wrap });
    world.database.transact([{ op: 'insert', table: 'Logical_Switch', row: { name: 'foreign' } }]);
    await world.want(wishes()).start();
    await world.reconciler.whenIdle();
    expect(texts).toEqual([]);
    expect(names(world.database, 'Logical_Switch_Port')).toEqual(PODS);
  });

  it('is left alone for a few rows', async () => {
    const { texts, wrap } = recorded();
    await using world = await new BulkWorld({ wrap, bulkFrom: 50 }).want(wishes()).start();
    await world.reconciler.whenIdle();
    expect(texts).toEqual([]);
    expect(names(world.database, 'Logical_Switch_Port')).toEqual(PODS);
  });

  it('ends at once when another client has been faster, and writes nothing twice', async () => {
    const texts: string[] = [];
    const wrap = actingBefore((_, text) => {
      texts.push(text);
      const row = { name: 's', external_ids: ['map', [[KEY, 's']]] } as const;
      if (texts.length === 1) world.database.transact([{ op: 'insert', table: 'Logical_Switch', row }]);
    });
    const world = new BulkWorld({ maxOperations: 2, wrap });
    await using _ = world;
    await world.want(wishes()).start();
    await world.reconciler.whenIdle();
    expect(texts).toHaveLength(1);
    expect(world.events).toContainEqual(expect.objectContaining({ kind: 'failed', blamed: [] }));
    expect(names(world.database, 'Logical_Switch')).toEqual(['s']);
    expect(names(world.database, 'Logical_Switch_Port')).toEqual(PODS);
    expect(world.reconciler.problems()).toEqual([]);
  });

  it('gives way to the ordinary path where the server does not let clients choose uuids', async () => {
    const { texts, wrap } = recorded();
    await using world = new BulkWorld({ maxOperations: 2, wrap });
    world.server.options = { refusesUuids: true };
    await world.want(wishes()).start();
    await world.reconciler.whenIdle();
    expect(texts).toHaveLength(1);
    expect(names(world.database, 'Logical_Switch_Port')).toEqual(PODS);
    expect(world.reconciler.problems()).toEqual([]);
  });

  it('lets one refused row fail with its transaction alone, and its owner by the ordinary path', async () => {
    await using world = new BulkWorld({ maxOperations: 5, retry: { minMs: 60_000, maxMs: 60_000 } });
    // No column of a port; the server says so of the whole transaction.
    const bad = { ...pod('bad'), rows: [{ table: 'Meter', key: 'bad', columns: { name: 'bad', unit: 'bogus' } }] };
    const picky = refusingRow(world, 'bad');
    await world.want(new Map([...wishes().entries()].toSpliced(12, 0, ['bad', bad as unknown as Fragment]))).start();
    await world.reconciler.whenIdle();
    expect(picky.refused).toBeGreaterThan(1);
    expect(names(world.database, 'Logical_Switch_Port')).toEqual(PODS);
    expect(world.reconciler.status('bad')).toMatchObject({ kind: 'failed', code: 'ERR_OVSDB_CONSTRAINT_VIOLATION' });
    expect(world.reconciler.problems().map(({ owner }) => owner)).toEqual(['bad']);
  });

  it.each(['before', 'after'] as const)(
    'goes on when the server dies %s executing one of its transactions',
    async (when) => {
      await using world = new BulkWorld({ maxOperations: 3 });
      let left = 4;
      const dies = (method: string): boolean => method === 'transact' && --left === 0;
      world.server.options =
        when === 'after'
          ? { dieAfter: dies }
          : {
              swallow: (method) => {
                if (!dies(method)) return false;
                world.server.disconnect();
                return true;
              },
            };
      await world.want(wishes()).start();
      await world.reconciler.whenDone(PODS.at(-1) ?? '');
      await world.reconciler.whenIdle();
      expect(left).toBeLessThanOrEqual(0);
      expect(names(world.database, 'Logical_Switch')).toEqual(['s']);
      expect(names(world.database, 'Logical_Switch_Port')).toEqual(PODS);
      expect(world.reconciler.problems()).toEqual([]);
    },
  );

  it('removes afterwards what was withdrawn meanwhile, and writes what came', async () => {
    const wrap = actingBefore((number) => {
      if (number !== 1) return;
      world.desired.delete('pod00');
      world.desired.delete('pod29');
      world.desired.set('late', pod('late'));
      world.desired.set('pod01', { ...pod('pod01'), rows: [port('pod01', 'other')] });
    });
    const world = new BulkWorld({ maxOperations: 5, wrap });
    await using _ = world;
    await world.want(wishes()).start();
    await world.reconciler.whenIdle();
    expect(names(world.database, 'Logical_Switch_Port')).toEqual(['late', ...PODS.slice(1, -1)]);
    const changed = world.database.rows('Logical_Switch_Port').find(({ name }) => name === 'pod01');
    expect(changed?.['addresses']).toEqual(['other']);
    expect(world.reconciler.problems()).toEqual([]);
  });

  it('repairs afterwards what somebody else changed meanwhile', async () => {
    const wrap = actingBefore((number) => {
      if (number === 2)
        world.database.transact([{ op: 'update', table: 'Logical_Switch', where: [], row: { name: 'theirs' } }]);
    });
    const world = new BulkWorld({ maxOperations: 5, wrap });
    await using _ = world;
    await world.want(wishes()).start();
    await world.reconciler.whenIdle();
    expect(names(world.database, 'Logical_Switch')).toEqual(['s']);
  });

  it('sends no more while the reconciler is paused, and the rest afterwards', async () => {
    const texts: string[] = [];
    const wrap = actingBefore((number, text) => {
      texts.push(text);
      if (number === 0) world.reconciler.setPaused(true);
    });
    const world = new BulkWorld({ maxOperations: 5, wrap });
    await using _ = world;
    await world.want(wishes()).start();
    // Its reply, and whatever would follow it, takes a few turns of the loop.
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(texts).toHaveLength(1);
    world.reconciler.setPaused(false);
    await world.reconciler.whenIdle();
    expect(names(world.database, 'Logical_Switch_Port')).toEqual(PODS);
  });
});

const port = (name: string, address: string) =>
  ({ table: 'Logical_Switch_Port', key: name, columns: { name, addresses: [address] } }) as const;

/** The server refuses a row with this name. */
const refusingRow = ({ database }: BulkWorld, name: string): { refused: number } => {
  const seen = { refused: 0 };
  const transact = database.transact.bind(database);
  database.transact = (operations) => {
    const index = operations.findIndex((operation) => operation.op === 'insert' && operation.row['name'] === name);
    if (index < 0) return transact(operations);
    seen.refused++;
    const details = 'it is not one of the allowed values';
    return operations.map((_, at) =>
      at === index ? { error: 'constraint violation', details } : at < index ? {} : null,
    );
  };
  return seen;
};
