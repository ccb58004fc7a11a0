/** What the agent holds in memory. */

import { ENDPOINT_SLICES, NAMESPACES, SERVICES } from '../../kube/resources.ts';
import type { KubeObject, ResourceType } from '../../kube/types.ts';
import { makeAll } from '../cni/cni-node.ts';
import type { BenchContext } from '../context.ts';
import { addPatchPorts } from '../datapath/whole-node.ts';
import { type BenchNode, startBenchNode } from '../node/bench-node.ts';
import { openNodeView } from '../node/node-view.ts';
import { type Made, tenant } from '../node/workload.ts';
import { settledRssKib } from '../process-memory.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { serviceNamespaces, serviceObject, sliceObject } from '../services/objects.ts';
import { median } from '../statistics.ts';

/** Starts of the agent in each run. */
const IDLE_ROUNDS = 3;
const LOADED_ROUNDS = 1;
const NETWORKS_ROUNDS = 3;

/** On a node without pods and without networks but the default one. */
export const benchAgentIdle = async (context: BenchContext): Promise<BenchResult[]> => {
  context.progress(`agent/rss-idle: ${IDLE_ROUNDS} starts on an empty node in each run`);
  await using node = await startBenchNode(`bench-idle-${process.pid}`, context.signal);
  return await rssOfStarts('agent/rss-idle', node, IDLE_ROUNDS, context);
};

/** What each network adds, on a node that has its part of all of them. */
export const benchAgentPerNetwork = async (context: BenchContext): Promise<BenchResult[]> => {
  const { signal, progress } = context;
  progress(`agent/rss-per-network: ${NETWORKS_ROUNDS} starts on an empty node, and in each run with many networks`);
  await using empty = await startBenchNode(`bench-idle-${process.pid}`, signal);
  const idle = median(await samplesOf(empty, NETWORKS_ROUNDS, 'as it runs', signal));
  const { node, tenants } = await context.largeNode();
  return await context.eachRun(async (run) => {
    const loaded = median(await samplesOf(node, NETWORKS_ROUNDS, run === 0 ? 'as it runs' : 'restarted', signal));
    const value = (loaded - idle) / tenants;
    return [benchResult({ name: 'agent/rss-per-network', value, unit: 'KiB', reference: 1, rounds: NETWORKS_ROUNDS })];
  });
};

/** As a node has it whose every network is programmed; northd and ovn-controller, which use gigabytes then, stand still. */
export const benchAgent500 = async (context: BenchContext): Promise<BenchResult[]> => {
  const { signal, progress } = context;
  progress(`agent/rss-500: ${LOADED_ROUNDS} start with ${MANY} networks in each run`);
  await using resources = new AsyncDisposableStack();
  const node = resources.use(await startBenchNode(`bench-rss-${process.pid}`, signal));
  for (const program of ['northd', 'ovn-controller'] as const) await node.hold(program);
  await addPatchPorts(node, MANY);
  await makeAll(
    node.client,
    Array.from({ length: MANY }, (_, index) => tenant(index + 1)),
  );
  const view = resources.use(await openNodeView(node));
  await view.networks(MANY);
  await settledRssKib(await node.pidOf('agent'), signal);
  await node.restartAgent();
  return await rssOfStarts('agent/rss-500', node, LOADED_ROUNDS, context);
};

const MANY = 500;

/** With Services on the default network, as `services/cold-start-10k` has them. */
export const benchAgentServices = async (context: BenchContext): Promise<BenchResult[]> => {
  const { signal, progress } = context;
  progress(`agent/rss-services-10k: ${LOADED_ROUNDS} start with ${SERVICE_COUNT} Services in each run`);
  await using node = await startBenchNode(`bench-rss-${process.pid}`, signal);
  for (const program of ['northd', 'ovn-controller'] as const) await node.hold(program);
  await makeAll(
    node.client,
    serviceNamespaces().map((object) => [made(NAMESPACES, object)]),
  );
  await makeAll(
    node.client,
    Array.from({ length: SERVICE_COUNT }, (_, index) => [
      made(SERVICES, serviceObject(index)),
      made(ENDPOINT_SLICES, sliceObject(index)),
    ]),
  );
  await node.restartAgent();
  const results = await rssOfStarts('agent/rss-services-10k', node, LOADED_ROUNDS, context);
  const balanced = new Set(
    (await node.run(['ovn-nbctl', '--bare', '--columns=vips', 'list', 'Load_Balancer'])).match(VIP),
  );
  if (balanced.size < SERVICE_COUNT) throw new Error(`only ${balanced.size} of the Services are in OVN`);
  return results;
};

const SERVICE_COUNT = 10_000;

/** Of a ClusterIP. */
const VIP = /\b10\.(?:9[6-9]|1[01]\d)\.\d+\.\d+:80\b/g;

/** As it is written into an API, which gives it the rest of its metadata. */
const made = (resource: ResourceType, { metadata, ...object }: KubeObject): Made => {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, ...own } = metadata;
  return { resource, object: { ...object, metadata: own } };
};

/** The first sample of the first run is of the agent as it runs, the others are of agents that were restarted. */
const rssOfStarts = (
  name: string,
  node: BenchNode,
  rounds: number,
  { signal, eachRun }: BenchContext,
): Promise<BenchResult[]> =>
  eachRun(async (run) => {
    const samples = await samplesOf(node, rounds, run === 0 ? 'as it runs' : 'restarted', signal);
    return [benchResult({ name, value: median(samples) / 1024, unit: 'MiB', reference: 1, rounds })];
  });

/** @param first what the first sample is of: the agent as it runs, or one that is restarted as for the others */
const samplesOf = async (
  node: BenchNode,
  count: number,
  first: 'as it runs' | 'restarted',
  signal: AbortSignal,
): Promise<number[]> => {
  const samples: number[] = [];
  for (let round = 0; round < count; round++) {
    if (round > 0 || first === 'restarted') await node.restartAgent();
    samples.push(await settledRssKib(await node.pidOf('agent'), signal));
  }
  return samples;
};
