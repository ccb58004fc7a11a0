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

/** As a node has it whose every network is programmed; northd and ovn-controller, which use gigabytes then, stand still. */
export const benchAgent500 = async ({ signal, progress }: BenchContext): Promise<BenchResult[]> => {
  progress(`agent/rss-500: ${LOADED_RUNS} starts with ${MANY} networks`);
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
  const samples = await samplesOf(node, LOADED_RUNS, signal);
  const value = median(samples) / 1024;
  return [benchResult({ name: 'agent/rss-500', value, unit: 'MiB', reference: 1, runs: LOADED_RUNS })];
};

const MANY = 500;

/** With Services on the default network, as `services/cold-start-10k` has them. */
export const benchAgentServices = async ({ signal, progress }: BenchContext): Promise<BenchResult[]> => {
  progress(`agent/rss-services-10k: ${LOADED_RUNS} starts with ${SERVICE_COUNT} Services`);
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
  const samples = await samplesOf(node, LOADED_RUNS, signal);
  const balanced = new Set(
    (await node.run(['ovn-nbctl', '--bare', '--columns=vips', 'list', 'Load_Balancer'])).match(VIP),
  );
  if (balanced.size < SERVICE_COUNT) throw new Error(`only ${balanced.size} of the Services are in OVN`);
  const value = median(samples) / 1024;
  return [benchResult({ name: 'agent/rss-services-10k', value, unit: 'MiB', reference: 1, runs: LOADED_RUNS })];
};

const SERVICE_COUNT = 10_000;

/** Of a ClusterIP. */
const VIP = /\b10\.(?:9[6-9]|1[01]\d)\.\d+\.\d+:80\b/g;

/** As it is written into an API, which gives it the rest of its metadata. */
const made = (resource: ResourceType, { metadata, ...object }: KubeObject): Made => {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, ...own } = metadata;
  return { resource, object: { ...object, metadata: own } };
};

/** The first sample is of the agent as it runs, the others are of agents that were restarted. */
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
