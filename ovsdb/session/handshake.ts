/** What is done with a new connection before it is used. */
import { NotConnectedError, type OvsdbError, RequestError } from '../errors.ts';
import type { DatabaseRow, OvsdbServer } from '../models/server.gen.ts';
import { ovsdbServer } from '../models/server.gen.ts';
import { Replica } from '../replica/replica.ts';
import type { DatabaseModel } from '../schema/model.ts';
import { parseSchema } from '../schema/parse.ts';
import type { RpcConnection } from '../wire/connection.ts';
import type { Monitors } from './monitors.ts';

const SERVER_TABLES = { Database: ['name', 'model', 'connected', 'leader', 'cid', 'index'] } as const;

/** The databases of a server, from its database `_Server` (ovsdb-server(5)). */
export type ServerReplica = Replica<OvsdbServer, typeof SERVER_TABLES>;

export type ServerDatabase = Pick<DatabaseRow, (typeof SERVER_TABLES)['Database'][number]>;

/** Undefined from servers that have no database `_Server`: those before Open vSwitch 2.9, which know no clusters either. */
export const watchServer = async (
  connection: RpcConnection,
  monitors: Monitors,
): Promise<ServerReplica | undefined> => {
  await ifKnown(connection.request('set_db_change_aware', [true]));
  const schema = await ifKnown(connection.request('get_schema', ['_Server']));
  if (schema === undefined) return undefined;
  const server = new Replica({ model: ovsdbServer, tables: SERVER_TABLES });
  await monitors.start(server, parseSchema(schema));
  return server;
};

export const databaseOf = (server: ServerReplica, name: string): ServerDatabase | undefined => {
  for (const row of server.rows('Database')) if (row.name === name) return row;
  return undefined;
};

export const fetchSchema = async (connection: RpcConnection, database: string): Promise<DatabaseModel> =>
  parseSchema(await connection.request('get_schema', [database]));

/** What makes a server unfit: clusters have members that lag behind, and a database may go and come back. */
export interface Demands {
  readonly leaderOnly: boolean;
  /** Cluster id → the newest log index seen: a member with an older one has not seen what we have seen. */
  readonly newestIndex: ReadonlyMap<string, number>;
}

/** The reason not to use a server, or undefined. */
export const unfitness = (name: string, row: ServerDatabase | undefined, demands: Demands): OvsdbError | undefined => {
  if (row === undefined) return new NotConnectedError(`the server has no database ${name}`);
  if (row.model === 'standalone') return undefined;
  if (!row.connected)
    return new NotConnectedError(`the server is not connected to its ${row.model === 'relay' ? 'source' : 'cluster'}`);
  if (demands.leaderOnly && !row.leader) return new NotConnectedError('the server is not the leader of its cluster');
  const newest = row.cid === undefined ? undefined : demands.newestIndex.get(row.cid);
  if (newest !== undefined && (row.index ?? 0) < newest)
    return new NotConnectedError('the server lags behind its cluster');
  return undefined;
};

const ifKnown = async (request: Promise<unknown>): Promise<unknown> => {
  try {
    return await request;
  } catch (error) {
    if (error instanceof RequestError) return undefined;
    throw error;
  }
};
