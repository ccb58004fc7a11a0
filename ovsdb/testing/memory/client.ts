import { managedReplica } from '../../desired/managed-replica.ts';
import type { Replica, Selection } from '../../replica/replica.ts';
import type { DatabaseModel } from '../../schema/model.ts';
import { OvsdbSession, type SessionOptions } from '../../session/session.ts';
import type { MemoryServer } from './server.ts';

/** A session with an in-memory server. It reconnects without waiting. */
export const memorySession = (
  server: MemoryServer,
  database: string,
  options: Partial<SessionOptions> = {},
): OvsdbSession =>
  new OvsdbSession({
    database,
    remotes: [{ transport: 'unix', path: 'memory' }],
    dial: server.dial,
    backoff: { minMs: 1, maxMs: 5 },
    ...options,
  });

/** A replica of everything, ready to be reconciled. */
export const wholeReplica = <DB>(model: DatabaseModel<DB>, ownerKey: string): Replica<DB, Selection<DB>> => {
  const tables = Object.fromEntries(Object.keys(model.tables).map((table) => [table, 'all'])) as Selection<DB>;
  return managedReplica({ model, tables, ownerKey });
};
