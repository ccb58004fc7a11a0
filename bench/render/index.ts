/** What rendering costs: an event, and a start. */
import { join } from 'node:path';
import { formatRemote } from '../../ovsdb/index.ts';
import type { TestServer } from '../../ovsdb/testing/server.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import type { LineProcess } from '../line-process.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { freshServer, loadRawMirrored, nodeProcess, temporaryFolder, withServer } from './northbound-server.ts';
import { writePages } from './object-pages.ts';
import { clusterObjects } from './objects.ts';

const PODS_OF_EACH = 10;
const EVENT_ROUNDS = 15;
const EVENTS_PER_ROUND = 200;
const START_ROUNDS = 3;

/** The processor time of one pod that comes or goes, with 1,000 networks and with one. */
export const benchPodEvent = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`render/pod-event-1000: ${EVENT_ROUNDS} × ${EVENTS_PER_ROUND} events with each number of networks`);
  await using resources = new AsyncDisposableStack();
  const [few, many] = await Promise.all([1, 1000].map((networks) => runningAgent(networks, resources)));
  if (few === undefined || many === undefined) throw new Error('no agents');
  return await eachRun(async (run) => {
    const { values, references } = await alternate(
      { rounds: EVENT_ROUNDS, run, warmUp: 1, signal },
      () => askEvents(many),
      () => askEvents(few),
    );
    const [value, reference] = [median(values), median(references)];
    return [benchResult({ name: 'render/pod-event-1000', value, unit: 'µs', reference, rounds: EVENT_ROUNDS })];
  });
};

/** From the text of the API's objects to a reconciled database, against loading the same transactions one by one. */
export const benchColdStart = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`render/cold-start-500: ${START_ROUNDS} times each`);
  await using resources = new AsyncDisposableStack();
  const folder = await temporaryFolder(resources);
  const objects = await writeObjects(folder, 500, 'with gateways');
  const recording = join(folder, 'recording.json');
  await withServer((server) => startAgent(objects, server, recording));
  return await eachRun(async (run) => {
    const { values, references } = await alternate(
      { rounds: START_ROUNDS, run, signal },
      () => withServer((server) => startAgent(objects, server)),
      () => withServer((server) => loadRawMirrored(recording, server)),
    );
    const [value, reference] = [median(values), median(references)];
    return [benchResult({ name: 'render/cold-start-500', value, unit: 'ms', reference, rounds: START_ROUNDS })];
  });
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

const agentProcess = (objects: string, server: TestServer, ...more: (string | undefined)[]): LineProcess =>
  nodeProcess(AGENT, [objects, formatRemote(server.remote), ...more.filter((one) => one !== undefined)]);

const AGENT = join(import.meta.dirname, 'agent-process.ts');

const writeObjects = async (folder: string, networks: number, gateways?: 'with gateways'): Promise<string> => {
  const path = join(folder, 'objects.jsonl');
  await writePages(path, clusterObjects(networks, PODS_OF_EACH, gateways));
  return path;
};
