/** A start with many Services, until OVN has them: what a node that comes back waits for. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatRemote, OvsdbSession, type Remote } from '../../ovsdb/index.ts';
import { takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { connectController, northboundOf } from '../node/connect-controller.ts';
import { openOvnClock } from '../node/ovn-clock.ts';
import { type OvnNode, startOvnNode } from '../node/ovn-node.ts';
import { loadRaw, NB_GLOBAL, nodeProcess, temporaryFolder, withServer } from '../render/northbound-server.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import type { Started } from './agent-process.ts';
import { recordStart, writeServices } from './index.ts';

const SERVICES = 10_000;
const ROUNDS = 1;

export const START_OVN_NAMES = ['services/cold-start-10k-ovn', 'services/cold-start-10k-northd'] as const;

/** Each start has a node of its own, where northd and ovn-controller are at work. */
export const benchStartUntilOvn = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress('services/cold-start-10k-ovn: a node for each start');
  await using resources = new AsyncDisposableStack();
  const folder = await temporaryFolder(resources);
  const objects = await writeServices(folder, SERVICES);
  const recording = join(folder, 'recording.json');
  await withServer((server) => recordStart(objects, server, recording));
  const byAgent = async (remote: Remote): Promise<number> => {
    const program = join(import.meta.dirname, 'agent-process.ts');
    await using started = nodeProcess(program, [objects, formatRemote(remote)]);
    return (JSON.parse(await started.line()) as Started).ms;
  };
  const byLoader = async (remote: Remote, node: OvnNode): Promise<number> => {
    const own = join(folder, 'recording-of-node.json');
    await writeFile(own, (await readFile(recording, 'utf8')).replaceAll(NB_GLOBAL, await globalOf(node)));
    return await loadRaw(own, { remote });
  };
  return await eachRun(async (run) =>
    resultsOf(
      await takeTurns<'agent' | 'raw', Start>(
        { rounds: ROUNDS, run, signal },
        {
          agent: (round) => onNode(`agent-${round}`, signal, byAgent),
          raw: (round) => onNode(`raw-${round}`, signal, byLoader),
        },
      ),
    ),
  );
};

const resultsOf = ({ agent, raw }: Record<'agent' | 'raw', Start[]>): BenchResult[] => {
  const result = (name: string, part: keyof Start): BenchResult => {
    const [value, reference] = [median(agent.map((one) => one[part])), median(raw.map((one) => one[part]))];
    return benchResult({ name, value, unit: 'ms', reference, rounds: ROUNDS });
  };
  const [all, northd] = START_OVN_NAMES;
  return [result(all, 'all'), result(northd, 'northd')];
};

/** Milliseconds until the southbound database has all of it, and until br-int has. */
interface Start {
  readonly northd: number;
  readonly all: number;
}

/** @param load reports what it took itself, in milliseconds */
const onNode = async (
  name: string,
  signal: AbortSignal,
  load: (remote: Remote, node: OvnNode) => Promise<number>,
): Promise<Start> => {
  await using node = await startOvnNode(`bench-start-${name}-${process.pid}`, signal);
  await connectController(node);
  await using clock = await openOvnClock(node);
  await clock.done(AbortSignal.timeout(WAIT_MS));
  // Without the start of the process.
  const loading = await load(northboundOf(node), node);
  const start = performance.now() - loading;
  const { northd } = await clock.done(AbortSignal.timeout(WAIT_MS));
  // Once more: what northd wrote in several transactions, it counted with the first.
  const { controller } = await clock.done(AbortSignal.timeout(WAIT_MS));
  await requireFlows(node);
  return { northd: northd - start, all: controller - start };
};

/** A controller that has nothing to do has done it at once. */
const requireFlows = async ({ run }: OvnNode): Promise<void> => {
  const text = await run(['ovs-ofctl', 'dump-aggregate', 'br-int']);
  const count = Number(/flow_count=([0-9]+)/.exec(text)?.[1]);
  if (!(count > SERVICES)) throw new Error(`br-int has ${count} flows, of ${SERVICES} Services`);
};

const WAIT_MS = 120_000;

/** Its only row, which the node made. */
const globalOf = async (node: OvnNode): Promise<string> => {
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: [northboundOf(node)] });
  session.start();
  await session.whenConnected();
  const [found] = await session.transact([{ op: 'select', table: 'NB_Global', where: [], columns: ['_uuid'] }]);
  await session.close();
  const [row] = found?.rows ?? [];
  return String((row?.['_uuid'] as readonly unknown[] | undefined)?.[1]);
};
