/** A northbound database of its own for each measurement. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNorthboundReplica } from '../../agent/databases/northbound.ts';
import { type DatabaseModel, OvsdbSession } from '../../ovsdb/index.ts';
import { ovnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { TestServer } from '../../ovsdb/testing/server.ts';
import { LineProcess } from '../line-process.ts';

export const withServer = async <T>(use: (server: TestServer) => Promise<T>): Promise<T> => {
  await using server = await freshServer();
  return await use(server);
};

/** The row of `NB_Global`. */
export const NB_GLOBAL = '4e1f6c4e-3c53-4e0c-9d5c-0d1c5f0f7a11';

/** With the row that ovn-northd and its scripts make, the same in all of them. */
export const freshServer = async (): Promise<TestServer> => {
  const server = await TestServer.create(['ovn-northbound']);
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: [server.remote] });
  session.start();
  await session.whenConnected();
  const global = { op: 'insert', table: 'NB_Global', row: {}, uuid: NB_GLOBAL } as const;
  await session.transact([global]);
  await session.close();
  return server;
};

/** Sends the transactions of a recording, each after the reply to the one before. @returns milliseconds */
export const loadRaw = (recording: string, server: Pick<TestServer, 'remote'>): Promise<number> =>
  load(recording, server);

/**
 * As `loadRaw`, by a process that the server tells of every row, as it tells the agent. That costs the server 1.3 to 1.6 times
 * what it takes without, and nobody mirrors a database without it.
 */
export const loadRawMirrored = (recording: string, server: Pick<TestServer, 'remote'>): Promise<number> => {
  const requests = createNorthboundReplica().prepare(ovnNorthbound as unknown as DatabaseModel);
  return load(recording, server, JSON.stringify(requests));
};

const load = async (
  recording: string,
  { remote }: Pick<TestServer, 'remote'>,
  ...monitors: string[]
): Promise<number> => {
  const socket = remote.transport === 'unix' ? remote.path : '';
  const path = join(import.meta.dirname, 'raw-loader.ts');
  await using loader = nodeProcess(path, [recording, socket, ...monitors]);
  return Number(await loader.line());
};

export const nodeProcess = (path: string, args: readonly string[]): LineProcess =>
  new LineProcess(path, process.execPath, [path, ...args]);

/** It goes with the resources. */
export const temporaryFolder = async (resources: AsyncDisposableStack): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'bench-render-'));
  resources.defer(() => rm(path, { recursive: true, force: true }));
  return path;
};
