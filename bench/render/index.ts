/** What rendering costs: an event, and a start. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatRemote, OvsdbSession } from '../../ovsdb/index.ts';
import { TestServer } from '../../ovsdb/testing/server.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { LineProcess } from '../line-process.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { clusterObjects } from './objects.ts';

const PODS_OF_EACH = 10;
const EVENT_ROUNDS = 15;
const EVENTS_PER_ROUND = 200;
const START_RUNS = 5;

/** The processor time of one pod that comes or goes, with 1,000 networks and with one. */
export const benchPodEvent = async ({ signal, progress }: BenchContext): Promise<BenchResult[]> => {
  progress(`render/pod-event-1000: ${EVENT_ROUNDS} × ${EVENTS_PER_ROUND} events with each number of networks`);
  await using resources = new AsyncDisposableStack();
  const [few, many] = await Promise.all([1, 1000].map((networks) => runningAgent(networks, resources)));
  if (few === undefined || many === undefined) throw new Error('no agents');
  const { values, references } = await alternate(
    { runs: EVENT_ROUNDS, warmUp: 1, signal },
    () => askEvents(many),
    () => askEvents(few),
  );
  const [value, reference] = [median(values), median(references)];
  return [benchResult({ name: 'render/pod-event-1000', value, unit: 'µs', reference, runs: EVENT_ROUNDS })];
};

/** From the text of the API's objects to a reconciled database, against loading the same transactions one by one. */
export const benchColdStart = async ({ signal, progress }: BenchContext): Promise<BenchResult[]> => {
  progress(`render/cold-start-500: ${START_RUNS} times each`);
  await using resources = new AsyncDisposableStack();
  const folder = await temporaryFolder(resources);
  const objects = await writeObjects(folder, 500);
  const recording = join(folder, 'recording.json');
  await withServer((server) => startAgent(objects, server, recording));
  const { values, references } = await alternate(
    { runs: START_RUNS, signal },
    () => withServer((server) => startAgent(objects, server)),
    () => withServer((server) => loadRaw(recording, server)),
  );
  const [value, reference] = [median(values), median(references)];
  return [benchResult({ name: 'render/cold-start-500', value, unit: 'ms', reference, runs: START_RUNS })];
};

const runningAgent = async (networks: number, resources: AsyncDisposableStack): Promise<LineProcess> => {
  const folder = await temporaryFolder(resources);
  const objects = await writeObjects(folder, networks);
  const server = resources.use(await freshServer());
  const agent = resources.use(agentProcess(objects, server));
  await agent.line();
  return agent;
};

const askEvents = async (agent: LineProcess): Promise<number> => {
  agent.write(`${EVENTS_PER_ROUND}\n`);
  return Number(await agent.line());
};

const startAgent = async (objects: string, server: TestServer, recording?: string): Promise<number> => {
  await using agent = agentProcess(objects, server, recording);
  return Number(await agent.line());
};

const loadRaw = async (recording: string, server: TestServer): Promise<number> => {
  await using loader = nodeProcess('raw-loader.ts', [recording, socketOf(server)]);
  return Number(await loader.line());
};

const agentProcess = (objects: string, server: TestServer, ...more: (string | undefined)[]): LineProcess =>
  nodeProcess('agent-process.ts', [objects, formatRemote(server.remote), ...more.filter((one) => one !== undefined)]);

const nodeProcess = (file: string, args: readonly string[]): LineProcess =>
  new LineProcess(file, process.execPath, [join(import.meta.dirname, file), ...args]);

const withServer = async <T>(use: (server: TestServer) => Promise<T>): Promise<T> => {
  await using server = await freshServer();
  return await use(server);
};

/** With the row that ovn-northd and its scripts make, the same in all of them. */
const freshServer = async (): Promise<TestServer> => {
  const server = await TestServer.create(['ovn-northbound']);
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: [server.remote] });
  session.start();
  await session.whenConnected();
  const global = { op: 'insert', table: 'NB_Global', row: {}, uuid: '4e1f6c4e-3c53-4e0c-9d5c-0d1c5f0f7a11' } as const;
  await session.transact([global]);
  await session.close();
  return server;
};

const socketOf = ({ remote }: TestServer): string => (remote.transport === 'unix' ? remote.path : '');

const writeObjects = async (folder: string, networks: number): Promise<string> => {
  const path = join(folder, 'objects.json');
  await writeFile(path, JSON.stringify(clusterObjects(networks, PODS_OF_EACH)));
  return path;
};

const temporaryFolder = async (resources: AsyncDisposableStack): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'bench-render-'));
  resources.defer(() => rm(path, { recursive: true, force: true }));
  return path;
};
