/** A northbound database of its own for each measurement. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OvsdbSession } from '../../ovsdb/index.ts';
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
export const loadRaw = async (recording: string, { remote }: Pick<TestServer, 'remote'>): Promise<number> => {
  const socket = remote.transport === 'unix' ? remote.path : '';
  await using loader = nodeProcess(join(import.meta.dirname, 'raw-loader.ts'), [recording, socket]);
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
