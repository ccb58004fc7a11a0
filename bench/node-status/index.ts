/**
 * Status from the nodes at full size: 500 agents' reporters, 1,000 networks, the cluster manager as a program of its own, and a
 * real API server. What is written and how often is counted in memory (`in-memory.ts`): here it is what the cluster manager needs.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { reportSpreadMs } from '../../agent/status/network-report/reporter.ts';
import type { NetworkStatus } from '../../api/network-status.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS, NODE_NETWORK_REPORTS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { systemClock } from '../../base/clock.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient, KubeObject } from '../../kube/types.ts';
import type { BenchContext } from '../context.ts';
import type { ControlPlane } from '../control/control-plane.ts';
import type { Fleet } from '../control/fleet.ts';
import { CAUGHT_UP, ManagerProcess } from '../control/manager-process.ts';
import { parseRequestCounts } from '../control/server-requests.ts';
import { watchTally } from '../control/watch-until.ts';
import { cpuMilliseconds, settledRssKib } from '../process-memory.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { inParallel } from './in-parallel.ts';
import { type SimulatedAgents, type SimulatedNetwork, type SimulatedNode, simulateAgents } from './simulated-agents.ts';
import { countWatched, type WatchedBytes } from './watched-bytes.ts';

export const NODE_STATUS_NAMES = [
  'control/node-status/watched',
  'control/node-status/manager-cpu',
  'control/node-status/manager-rss',
];

const NODE_COUNT = 500;

export const benchNodeStatus = async (context: BenchContext): Promise<BenchResult[]> => {
  context.progress(`control/node-status: ${NODE_COUNT} nodes, some ten minutes`);
  return await measureNodeStatus(await context.fleet(), NODE_COUNT, context.progress);
};

/** With the networks of a fleet. */
export const measureNodeStatus = async (
  fleet: Fleet,
  count: number,
  progress: BenchContext['progress'],
): Promise<BenchResult[]> => {
  await fleet.layer2();
  const { plane, signal } = fleet;
  await using resources = new AsyncDisposableStack();
  const nodes = await createNodes(plane.client, count);
  resources.defer(() => inParallel(nodes, ({ name }) => plane.client.delete(NODES, { name })));
  const networks = await readNetworks(plane.client);
  const manager = resources.use(new ManagerProcess(plane.kubeconfig));
  await manager.whenLogged(CAUGHT_UP);
  const rssBefore = await settledRssKib(manager.pid, signal);
  const options = { client: plane.client, nodes, clock: systemClock, random: Math.random };
  const agents = simulateAgents({ ...options, rendering: 'Always' });
  resources.defer(() => agents.stop());
  const watched = resources.use(await countWatched(plane.client, NODE_NETWORK_REPORTS));
  const run: Run = { plane, manager, agents, watched, nodes, networks, signal, progress };
  await phase(run, 'every agent starts, with all networks', () => agents.have(networks), all(nodes.length));
  const one = await phase(run, 'one network fails on all nodes', () => failAll(run, 'EINVAL'), oneOf('failing', count));
  await phase(run, 'and is well again', () => agents.have(networks.slice(0, 1)), all(nodes.length));
  const [node] = nodes;
  const onOne = node === undefined ? [] : [node];
  await phase(run, 'it fails on one node', () => failAll(run, 'EINVAL', onOne), oneOf('failing', 1));
  await phase(run, 'and is well again there', () => agents.have(networks.slice(0, 1), onOne), all(nodes.length));
  const longest = 1_000 + 2 * reportSpreadMs(nodes.length);
  await phase(run, 'every agent starts again', () => agents.restart(), all(nodes.length), longest);
  const rss = await settledRssKib(manager.pid, signal);
  for (const problem of manager.problems) progress(`control/node-status: ${problem}`);
  const [watchedName = '', cpu = '', rssName = ''] = NODE_STATUS_NAMES;
  const perNode = { reference: nodes.length, rounds: 1 };
  return [
    benchResult({ name: watchedName, value: one.bytesWatched / 1024, unit: 'KiB', ...perNode }),
    benchResult({ name: cpu, value: one.cpuMs, unit: 'ms', ...perNode }),
    benchResult({ name: rssName, value: rss / 1024, unit: 'MiB', reference: rssBefore / 1024, rounds: 1 }),
  ];
};

interface Run {
  readonly plane: ControlPlane;
  readonly manager: ManagerProcess;
  readonly agents: SimulatedAgents;
  readonly watched: WatchedBytes;
  readonly nodes: readonly SimulatedNode[];
  readonly networks: readonly SimulatedNetwork[];
  readonly signal: AbortSignal;
  readonly progress: BenchContext['progress'];
}

interface Cost {
  readonly seconds: number;
  readonly reads: number;
  readonly reports: number;
  readonly bytesSent: number;
  readonly bytesStored: number;
  readonly bytesWatched: number;
  readonly statusWrites: number;
  readonly cpuMs: number;
}

/** What the API is to say of so many networks in the end. */
interface Goal {
  readonly isDone: (status: NetworkStatus) => boolean;
  readonly count: (networks: number) => number;
}

const all = (nodes: number): Goal => ({
  isDone: (status) => status.nodes?.ready === nodes,
  count: (networks) => networks,
});

const oneOf = (field: 'failing', nodes: number): Goal => ({
  isDone: (status) => status.nodes?.[field] === nodes,
  count: () => 1,
});

const failAll = ({ agents, networks: [first] }: Run, message: string, nodes?: readonly SimulatedNode[]): void => {
  if (first !== undefined) agents.fail(first, message, nodes);
};

/** @param waitMs for what is to come after the goal, although nothing should */
const phase = async (run: Run, name: string, change: () => void, goal: Goal, waitMs = 5_000): Promise<Cost> => {
  const { plane, networks, signal, progress } = run;
  const isDone = (udn: KubeObject): boolean => goal.isDone((udn['status'] ?? {}) as NetworkStatus);
  await using tally = await watchTally({ client: plane.client, resource: USER_DEFINED_NETWORKS, isDone }, signal);
  const before = await reading(run);
  const start = performance.now();
  change();
  await tally.reaches(goal.count(networks.length));
  const seconds = (performance.now() - start) / 1000;
  await delay(waitMs, undefined, { signal });
  const after = await reading(run);
  const cost = { ...difference(before, after), seconds };
  progress(`  ${name}: ${JSON.stringify(cost)}`);
  return cost;
};

type Reading = Omit<Cost, 'seconds'>;

const reading = async ({ plane, agents: { tally }, watched, manager }: Run): Promise<Reading> => ({
  reads: tally.reads,
  reports: tally.writes - tally.renewals,
  bytesSent: tally.bytesSent,
  bytesStored: tally.bytesStored,
  bytesWatched: watched.bytes,
  statusWrites: statusWritesIn(await plane.metrics()),
  cpuMs: await cpuMilliseconds(manager.pid),
});

const statusWritesIn = (metrics: string): number =>
  [...parseRequestCounts(metrics)].reduce(
    (sum, [key, count]) => (/^(APPLY|PATCH) .*userdefinednetworks\/status$/.test(key) ? sum + count : sum),
    0,
  );

const difference = (before: Reading, after: Reading): Reading =>
  Object.fromEntries(
    (Object.keys(after) as (keyof Reading)[]).map((key) => [key, after[key] - before[key]]),
  ) as unknown as Reading;

const createNodes = async (client: KubeClient, count: number): Promise<SimulatedNode[]> => {
  const nodes: SimulatedNode[] = [];
  const names = Array.from({ length: count }, (_, index) => `simulated-${index + 1}`);
  await inParallel(names, async (name) => {
    const { metadata } = await client.create(NODES, { metadata: { name } });
    nodes.push({ name, uid: metadata.uid });
  });
  return nodes;
};

/** As agents know them: by their NADs. */
const readNetworks = async (client: KubeClient): Promise<SimulatedNetwork[]> => {
  const nads = await client.list(NETWORK_ATTACHMENT_DEFINITIONS);
  const createdAt = new Map(nads.items.map(({ metadata }) => [metadata.namespace, metadata.creationTimestamp]));
  const { items } = await client.list(USER_DEFINED_NETWORKS);
  return items.map(({ metadata: { namespace }, ...udn }) => {
    const { networkName: name = '', networkID: id = 0 } = udn['status'] as NetworkStatus;
    return { name, id, createdAt: createdAt.get(namespace) ?? '' };
  });
};
