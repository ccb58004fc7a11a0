/** What Services cost the agent: an endpoint more, and a start. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { formatRemote } from '../../ovsdb/index.ts';
import type { TestServer } from '../../ovsdb/testing/server.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import type { LineProcess } from '../line-process.ts';
import { freshServer, loadRawMirrored, nodeProcess, temporaryFolder, withServer } from '../render/northbound-server.ts';
import { writePages } from '../render/object-pages.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import type { Started } from './agent-process.ts';
import { serviceObjects } from './objects.ts';

const [FEW, MANY] = [100, 10_000];
const ENDPOINT_ROUNDS = 100;
const START_ROUNDS = 3;

export const ENDPOINT_NAMES = ['services/endpoint-10k', 'services/endpoint-10k-bytes'] as const;

/**
 * One endpoint more of one Service, among many and among few, until the database has it; another Service each time. Bytes are
 * those by which the database's file grows.
 */
export const benchEndpoint = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`services/endpoint-10k: ${ENDPOINT_ROUNDS} endpoints with each number of Services`);
  await using resources = new AsyncDisposableStack();
  const few = await startAgent(FEW, resources);
  const many = await startAgent(MANY, resources);
  const result = (name: string, unit: string, of: readonly number[], than: readonly number[]): BenchResult =>
    benchResult({ name, value: median(of), unit, reference: median(than), rounds: ENDPOINT_ROUNDS });
  const [time, written] = ENDPOINT_NAMES;
  return await eachRun(async (run) => {
    const bytes = { many: [] as number[], few: [] as number[] };
    const { values, references } = await alternate(
      { rounds: ENDPOINT_ROUNDS, run, warmUp: WARM_UP, signal },
      (round) => oneEndpoint(many, bytes.many, round),
      (round) => oneEndpoint(few, bytes.few, round),
    );
    return [result(time, 'ms', values, references), result(written, 'bytes', bytes.many, bytes.few)];
  });
};

/** Rounds after which compiled code is what it stays. */
const WARM_UP = 50;

interface ServiceAgent {
  readonly services: number;
  readonly agent: LineProcess;
  readonly server: TestServer;
}

const startAgent = async (services: number, resources: AsyncDisposableStack): Promise<ServiceAgent> => {
  const folder = await temporaryFolder(resources);
  const server = resources.use(await freshServer());
  const agent = resources.use(agentProcess(await writeServices(folder, services), server));
  await agent.line();
  return { services, agent, server };
};

const oneEndpoint = async (
  { services, agent, server }: ServiceAgent,
  into: number[],
  round: number,
): Promise<number> => {
  const service = (round * STEP) % services;
  const before = await sizeOf(server);
  agent.write(`${service}\n`);
  const milliseconds = Number(await agent.line());
  if (round >= WARM_UP) into.push((await sizeOf(server)) - before);
  agent.write(`-${service}\n`);
  await agent.line();
  return milliseconds;
};

/** From one Service to the next: so that they are spread over all of them. */
const STEP = 97;

/** Of the database's file. It is written before the reply. */
const sizeOf = async ({ folder }: TestServer): Promise<number> => (await stat(join(folder, '0.db'))).size;

/**
 * From the text of the API's objects to a reconciled database, against loading the same transactions one by one. A start where
 * everything is right is no measurement, but it must not write.
 */
export const benchServicesStart = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`services/cold-start-10k: ${START_ROUNDS} times each`);
  await using resources = new AsyncDisposableStack();
  const folder = await temporaryFolder(resources);
  const objects = await writeServices(folder, MANY);
  const recording = join(folder, 'recording.json');
  await withServer(async (server) => {
    await recordStart(objects, server, recording);
    const { transactions } = await start(objects, server);
    if (transactions > 0) throw new Error(`a restart wrote ${transactions} times where everything was right`);
  });
  return await eachRun(async (run) => {
    const { values, references } = await alternate(
      { rounds: START_ROUNDS, run, signal },
      () => withServer(async (server) => (await start(objects, server)).ms),
      () => withServer((server) => loadRawMirrored(recording, server)),
    );
    const [value, reference] = [median(values), median(references)];
    return [benchResult({ name: 'services/cold-start-10k', value, unit: 'ms', reference, rounds: START_ROUNDS })];
  });
};

/** The transactions of a start. */
export const recordStart = async (objects: string, server: TestServer, recording: string): Promise<void> => {
  await start(objects, server, recording);
};

const start = async (objects: string, server: TestServer, ...more: string[]): Promise<Started> => {
  await using agent = agentProcess(objects, server, ...more);
  return JSON.parse(await agent.line()) as Started;
};

const agentProcess = (objects: string, server: TestServer, ...more: string[]): LineProcess =>
  nodeProcess(join(import.meta.dirname, 'agent-process.ts'), [objects, formatRemote(server.remote), ...more]);

export const writeServices = async (folder: string, services: number): Promise<string> => {
  const path = join(folder, 'objects.jsonl');
  await writePages(path, serviceObjects(services));
  return path;
};
