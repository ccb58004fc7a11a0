import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OutcomeUnknownError, operationError } from '../../errors.ts';
import type { OvsdbSession } from '../../session/session.ts';
import type { MemoryServer } from '../../testing/memory/server.ts';
import type { Operation } from '../../transact/operation.ts';
import { type Fragments, fragments } from '../convergence.suite.ts';
import type { ReconcilerSession } from '../reconcile/needs.ts';
import { whenSettled } from '../reconcile/world.suite.ts';
import { BulkWorld, operationsOf } from './bulk-world.suite.ts';

/**
 * An owner whose member names a row that lost a conflict waits for the row, or failed with it: that depends on which of its units were
 * there when the row was refused, as it does when an agent starts again.
 */
const isFinished = (world: BulkWorld, owner: string): boolean =>
  !['waiting', 'failed'].includes(world.reconciler.status(owner).kind);

it('leaves the same database, and the same owners unfinished, as the ordinary path', async () => {
  let loaded = 0;
  await fc.assert(
    fc.asyncProperty(fragments, fc.option(fc.integer({ min: 1, max: 6 })), async (all, maxOperations) => {
      // Of rows with one name, the first of those that are planned at once gets it: where plans are cut short, that depends on the cuts.
      const wishes = maxOperations === null ? all : withNamesOfTheirOwn(all);
      await using bulk = await new BulkWorld(maxOperations === null ? {} : { maxOperations }).want(wishes).start();
      await using ordinary = await new BulkWorld({ bulkFrom: Number.POSITIVE_INFINITY }).want(wishes).start();
      for (const { reconciler } of [bulk, ordinary]) await reconciler.whenIdle();
      loaded += bulk.reconciler.counts.transactions - ordinary.reconciler.counts.transactions;
      expect(bulk.rows()).toEqual(ordinary.rows());
      for (const owner of wishes.keys()) {
        expect([owner, isFinished(bulk, owner)]).toEqual([owner, isFinished(ordinary, owner)]);
      }
      expect(bulk.reconciler.counts).toMatchObject({ failures: 0, driftRepairs: 0 });
    }),
    { numRuns: 150 },
  );
  expect(loaded).toBeGreaterThan(0);
});

/** What happens to the transaction with this number. */
type Fault = 'refused' | 'lost before' | 'lost after' | 'no reply';

const FAULTS: readonly Fault[] = ['refused', 'lost before', 'lost after', 'no reply'];

const faults = fc.dictionary(
  fc.nat(12).map((n) => String(n)),
  fc.constantFrom(...FAULTS),
  { maxKeys: 4 },
);

it('leaves the same database whatever transactions are refused for a while, lost or not answered', async () => {
  await fc.assert(
    fc.asyncProperty(fragments, fc.integer({ min: 1, max: 6 }), faults, async (all, maxOperations, some) => {
      const wishes = withNamesOfTheirOwn(all);
      await using ordinary = await new BulkWorld({ bulkFrom: Number.POSITIVE_INFINITY }).want(wishes).start();
      await whenSettled(ordinary.reconciler);
      const wrap = (session: OvsdbSession, server: MemoryServer): ReconcilerSession => faulty(session, server, some);
      await using bulk = await new BulkWorld({ maxOperations, wrap }).want(wishes).start();
      for (let before = -1; before !== bulk.database.transactions; ) {
        before = bulk.database.transactions;
        await bulk.replica.whenSynced();
        await whenSettled(bulk.reconciler);
      }
      expect(bulk.rows()).toEqual(ordinary.rows());
    }),
    { numRuns: 150 },
  );
}, 60_000);

const faulty = (
  session: OvsdbSession,
  server: MemoryServer,
  some: Readonly<Record<string, Fault>>,
): ReconcilerSession => {
  let number = 0;
  const sent = async <T>(send: () => Promise<T>): Promise<T> => {
    switch (some[String(number++)]) {
      case 'refused':
        throw operationError({
          ...{ error: 'constraint violation', details: 'for a while', suspects: [] },
          ...{ index: undefined, operation: undefined },
        });
      case 'lost before':
        setImmediate(() => server.disconnect());
        throw new OutcomeUnknownError('lost before it was executed');
      case 'lost after':
        await send();
        server.disconnect();
        throw new OutcomeUnknownError('lost after it was executed');
      case 'no reply':
        await send();
        throw new OutcomeUnknownError('executed and not answered');
      default:
        return await send();
    }
  };
  return {
    reconnect: (reason) => session.reconnect(reason),
    transact: (operations) => sent(() => session.transact(operations)),
    transactText: (text) => sent(() => session.transactText(text)),
  };
};

/** Of rows that want the same place, who is first gets it: that depends on what has failed. */
const withNamesOfTheirOwn = (wishes: Fragments): Fragments =>
  new Map(
    [...wishes].map(([owner, fragment]) => [
      owner,
      {
        ...fragment,
        rows: (fragment.rows ?? []).map((row) =>
          row.table === 'Logical_Switch_Port' ? { ...row, columns: { ...row.columns, name: row.key } } : row,
        ),
      },
    ]),
  );

it('writes transactions that a reader of their text finds whole', async () => {
  await fc.assert(
    fc.asyncProperty(fragments, fc.integer({ min: 1, max: 6 }), async (wishes, maxOperations) => {
      const seen: Operation[][] = [];
      const listening = (session: OvsdbSession): ReconcilerSession => ({
        reconnect: (reason) => session.reconnect(reason),
        transact: (operations) => session.transact(operations),
        transactText: (text) => {
          seen.push(operationsOf(text));
          return session.transactText(text);
        },
      });
      await using world = await new BulkWorld({ maxOperations, wrap: listening }).want(wishes).start();
      await world.reconciler.whenIdle();
      const inserted = seen.map((operations) =>
        operations.flatMap((operation) => (operation.op === 'insert' ? [operation.uuid] : [])),
      );
      expect(new Set(inserted.flat()).size).toBe(inserted.flat().length);
      for (const [number, operations] of seen.entries()) {
        const known = new Set(inserted.slice(0, number + 1).flat());
        const referred = JSON.stringify(operations).matchAll(/\["uuid","([^"]+)"\]/g);
        for (const [, uuid] of referred) expect(known).toContain(uuid);
      }
    }),
  );
});
