/** A reconciler with an in-memory server, for tests. */
import { onTestFinished } from 'vitest';
import { abortable } from '../../../base/abort.ts';
import { createFakeClock } from '../../../base/testing/fake-clock.ts';
import type { OvnNorthbound } from '../../models/ovn-northbound.gen.ts';
import type { DatabaseModel } from '../../schema/model.ts';
import { memorySession, wholeReplica } from '../../testing/memory/client.ts';
import { MemoryDatabase } from '../../testing/memory/database.ts';
import { MemoryServer } from '../../testing/memory/server.ts';
import { DesiredRows } from '../desired-rows.ts';
import { type DesiredFragment, rowRef } from '../types.ts';
import type { ReconcilerEvent } from './events.ts';
import type { ReconcilerSession } from './needs.ts';
import type { ReconcilerOptions } from './options.ts';
import { OvsdbReconciler } from './reconciler.ts';

export const KEY = 'ovn-udn/key';

export interface WorldOptions<DB> extends Partial<ReconcilerOptions<DB>> {
  /** Of the server, when it is not that of the model. */
  readonly schema?: unknown;
  readonly wrap?: (session: ReconcilerSession) => ReconcilerSession;
  /** The reconciler starts, and nothing has been read: `connect` goes on. */
  readonly isConnected?: false;
}

/** Ends with the test. */
export const startWorld = async <DB>(model: DatabaseModel<DB>, options: WorldOptions<DB> = {}) => {
  const database = new MemoryDatabase(options.schema ?? model);
  const server = new MemoryServer([database]);
  const session = memorySession(server, model.name);
  const replica = wholeReplica(model, KEY);
  const desired = new DesiredRows<DB>();
  const events: ReconcilerEvent[] = [];
  const clock = createFakeClock();
  const reconciler = new OvsdbReconciler<DB>({
    desired,
    replica,
    session: options.wrap?.(session) ?? session,
    ownerKey: KEY,
    clock,
    random: () => 1,
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(async () => {
    await reconciler.stop();
    await session.close();
  });
  session.mirror(replica);
  const connect = (): Promise<void> => {
    session.start();
    return replica.whenSynced();
  };
  if (options.isConnected !== false) await connect();
  reconciler.start();
  return { database, server, session, replica, desired, reconciler, events, clock, connect };
};

export type Fragment = DesiredFragment<OvnNorthbound>;

export const SWITCH: Fragment = { rows: [{ table: 'Logical_Switch', key: 's', columns: { name: 's' } }] };

export const pod = (name: string): Fragment => ({
  rows: [{ table: 'Logical_Switch_Port', key: name, columns: { name, addresses: [name] } }],
  members: [{ table: 'Logical_Switch', row: 's', column: 'ports', value: rowRef(name) }],
});

export const names = (database: MemoryDatabase, table: string): unknown[] =>
  database
    .rows(table)
    .map(({ name }) => name)
    .sort();

/** What lasts until somebody changes a wish or a row that is not ours. */
const LASTING = ['ERR_OVSDB_SHADOWED', 'ERR_OVSDB_CONFLICT'];

/** Resolves when everything that can be done is done: nobody waits for another try either. */
export const whenSettled = async <DB>(
  reconciler: OvsdbReconciler<DB>,
  signal = AbortSignal.timeout(20_000),
): Promise<void> => {
  for (;;) {
    await reconciler.whenIdle(signal);
    const failed = reconciler
      .problems()
      .filter(({ status: { kind, code = '' } }) => kind === 'failed' && !LASTING.includes(code));
    if (failed.length === 0) return;
    await abortable<void>(signal, (resolve) => reconciler.onStatus(() => resolve())).catch((cause: unknown) => {
      throw new Error(`not settled: ${JSON.stringify(failed)}`, { cause });
    });
  }
};
