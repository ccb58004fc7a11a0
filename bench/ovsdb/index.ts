/** Compares the replica of `ovsdb` with the Python IDL of Open vSwitch: the same server, the same rows, the same run. */
import { join } from 'node:path';
import { formatRemote, OvsdbSession } from '../../ovsdb/index.ts';
import { TestServer } from '../../ovsdb/testing/server.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { type ClientRun, type Measured, runIdl, runReplica } from './clients.ts';
import { lastEvent, podEvents, SENTINEL, switches } from './dataset.ts';
import { Player, record } from './recording.ts';

const ROUNDS = 1;
const UPDATES = 20_000;

/** From nothing to a replica of 100,000 ports on 100 switches. */
export const benchSync = async (context: BenchContext): Promise<BenchResult[]> => {
  context.progress(`ovsdb/sync-100k: ${ROUNDS} times each`);
  await using server = await fill(100, 1000);
  const run: ClientRun = { mode: 'sync', remote: formatRemote(server.remote), rows: 100_000, sentinel: SENTINEL };
  return await compare(
    'ovsdb/sync-100k',
    context,
    ({ sync }) => sync,
    () => runReplica(run),
    () => runIdl(run),
  );
};

/** The time in which 20,000 transactions of pods that come and change are seen, with 10,000 ports there before. */
export const benchUpdates = async (context: BenchContext): Promise<BenchResult[]> => {
  context.progress(`ovsdb/updates: ${ROUNDS} times each`);
  await using server = await fill(20, 500);
  const path = server.remote.transport === 'unix' ? server.remote.path : '';
  const recording = await record(
    path,
    ['Logical_Switch', 'Logical_Switch_Port'],
    [...podEvents(UPDATES, 20), lastEvent],
  );
  const socket = join(server.folder, 'player.sock');
  await using player = new Player(socket, recording);
  await player.listening();
  const run: ClientRun = {
    mode: 'updates',
    remote: `unix:${socket}`,
    rows: 10_000,
    sentinel: SENTINEL,
    onReady: () => player.play(),
  };
  return await compare(
    'ovsdb/updates',
    context,
    ({ updates = 0 }) => updates,
    () => runReplica(run),
    () => runIdl(run),
  );
};

const fill = async (count: number, portsOfEach: number): Promise<TestServer> => {
  const server = await TestServer.create(['ovn-northbound']);
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: [server.remote] });
  session.start();
  await session.whenConnected();
  for (const operations of switches(count, portsOfEach)) await session.transact(operations);
  await session.close();
  return server;
};

const compare = async (
  name: string,
  { signal, eachRun }: BenchContext,
  pick: (measured: Measured) => number,
  ours: () => Promise<Measured>,
  theirs: () => Promise<Measured>,
): Promise<BenchResult[]> =>
  await eachRun(async (run) => {
    const { values, references } = await alternate(
      { rounds: ROUNDS, run, signal },
      async () => pick(await ours()),
      async () => pick(await theirs()),
    );
    return [benchResult({ name, value: median(values), unit: 'ms', reference: median(references), rounds: ROUNDS })];
  });
