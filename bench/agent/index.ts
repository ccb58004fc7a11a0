/** What the agent holds in memory. */
import type { BenchContext } from '../context.ts';
import { type BenchNode, startBenchNode } from '../node/bench-node.ts';
import { settledRssKib } from '../process-memory.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';

const IDLE_RUNS = 5;
const LOADED_RUNS = 3;

/** On a node without pods and without networks but the default one. */
export const benchAgentIdle = async (context: BenchContext): Promise<BenchResult[]> => {
  const samples = await idleSamples(context);
  return [
    benchResult({ name: 'agent/rss-idle', value: median(samples) / 1024, unit: 'MiB', reference: 1, runs: IDLE_RUNS }),
  ];
};

/** What each network adds, on a node that has its part of all of them. */
export const benchAgentPerNetwork = async (context: BenchContext): Promise<BenchResult[]> => {
  const idle = median(await idleSamples(context));
  const { node, tenants } = await context.largeNode();
  context.progress(`agent/rss-per-network: ${LOADED_RUNS} starts with ${tenants} networks`);
  const loaded = median(await samplesOf(node, LOADED_RUNS, context.signal));
  const value = (loaded - idle) / tenants;
  return [benchResult({ name: 'agent/rss-per-network', value, unit: 'KiB', reference: 1, runs: LOADED_RUNS })];
};

/** The first sample is of the agent as it runs, the others are of agents that were started anew. */
const samplesOf = async (node: BenchNode, count: number, signal: AbortSignal): Promise<number[]> => {
  const samples: number[] = [];
  for (let round = 0; round < count; round++) {
    if (round > 0) await node.restartAgent();
    samples.push(await settledRssKib(await node.pidOf('agent'), signal));
  }
  return samples;
};

const idleSamples = async ({ signal, progress }: BenchContext): Promise<number[]> => {
  progress(`agent: ${IDLE_RUNS} starts on an empty node`);
  await using node = await startBenchNode(`bench-idle-${process.pid}`, signal);
  return await samplesOf(node, IDLE_RUNS, signal);
};
