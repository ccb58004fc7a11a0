/** Sessions with in-memory servers, for tests. */
import { onTestFinished } from 'vitest';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import { ovsdbServer } from '../models/server.gen.ts';
import { Replica } from '../replica/replica.ts';
import { memorySession } from '../testing/memory/client.ts';
import { MemoryDatabase } from '../testing/memory/database.ts';
import { MemoryServer, type MemoryServerOptions } from '../testing/memory/server.ts';
import type { Operation } from '../transact/operation.ts';
import type { OvsdbSession, SessionOptions, SessionState } from './session.ts';

/** With the test. */
export const closeInTheEnd = (session: OvsdbSession): void => onTestFinished(() => session.close());

export const NAME = 'OVN_Northbound';
export const insert = (name: string): Operation => ({ op: 'insert', table: 'Logical_Switch', row: { name } });

export const start = (server: MemoryServer, options: Partial<SessionOptions> = {}) => {
  const session = memorySession(server, NAME, options);
  closeInTheEnd(session);
  const replica = new Replica({ model: ovnNorthbound, tables: { Logical_Switch: ['name'] } });
  const states: SessionState[] = [];
  session.onState((state) => states.push(state));
  session.mirror(replica);
  session.start();
  return { session, replica, states };
};

export const newServer = (options: MemoryServerOptions = {}) => {
  const database = new MemoryDatabase(ovnNorthbound);
  return { database, server: new MemoryServer([database], options) };
};

/** What `_Server` says of the database. */
export const serverDatabase = (row: Record<string, unknown>): MemoryDatabase => {
  const database = new MemoryDatabase(ovsdbServer);
  database.transact([
    { op: 'insert', table: 'Database', row: { name: NAME, model: 'clustered', connected: true, ...row } as never },
  ]);
  return database;
};

export const untilState = (session: OvsdbSession, test: (state: SessionState) => boolean): Promise<SessionState> =>
  new Promise((resolve) => {
    const stop = session.onState((state) => {
      if (!test(state)) return;
      stop();
      resolve(state);
    });
  });

export const isWaiting = ({ kind }: SessionState): boolean => kind === 'waiting';
