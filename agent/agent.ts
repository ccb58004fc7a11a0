/**
 * The agent of one node, put together. The order of the start:
 *
 * 1. Mirror the API and the databases; nothing is written.
 * 2. When the API's objects are known, and what this node is, render everything and let the reconcilers compare.
 * 3. Serve CNI. It does not wait for the reconcilers: a pod is plugged as soon as its own ports are there, and what keeps
 *    the node's processes from it.
 *
 * The end leaves everything that is programmed as it is.
 */

import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { removeAbandoned } from '../program/capture-folders.ts';
import { releaseMemory } from '../program/release-memory.ts';
import { deviceInfoFiles } from './cni/foreign/device-info-files.ts';
import { ForeignAttachments } from './cni/foreign/foreign-attachments.ts';
import { podRoutes } from './cni/foreign/pod-routes.ts';
import { recordStore } from './cni/foreign/record-store.ts';
import { findNoFilters, keepFilters } from './cni/keep-filters.ts';
import { keepLinks } from './cni/keep-links.ts';
import { keepNetworkStatus } from './cni/keep-network-status.ts';
import { keepPlugin } from './cni/keep-plugin.ts';
import type { PluginKeeper } from './cni/plugin-keeper.ts';
import { startCni } from './cni/start.ts';
import { daemonVersions, logVersions } from './health/daemon-versions.ts';
import { startHealth } from './health/start.ts';
import { serveMetrics } from './metrics/serve.ts';
import { keepNode } from './node/keep-node.ts';
import type { LocalNode } from './node/local-node.ts';
import type { NodeKeeper } from './node/node-keeper.ts';
import type { NodePorts } from './node-ports/node-ports.ts';
import { serveNodePorts } from './node-ports/start.ts';
import { whenIdle } from './reconcile/reconcilers.ts';
import { announce, startNetworkReport } from './status/network-report/start.ts';
import { openProbes } from './status/open-probes.ts';
import { connectedDatabases, Probes } from './status/probes.ts';
import { claimNode } from './status/running-agent.ts';
import { startStatus } from './status/start.ts';
import { reasonsNotStarted } from './status/start-reasons.ts';
import { untilReady } from './status/until-ready.ts';
import type { AgentContext } from './wiring/context.ts';
import { type Edges, openEdges } from './wiring/edges.ts';
import { enough } from './wiring/enough.ts';
import { meetNode } from './wiring/meet-node.ts';
import { type OpenDatapath, openDatapath } from './wiring/open-datapath.ts';
import { openPrerequisites } from './wiring/prerequisites.ts';
import { type ProgrammedNode, programNode } from './wiring/program-node.ts';

/** Runs until `signal` aborts. @throws what keeps it from starting */
export const runAgent = async (context: AgentContext): Promise<void> => {
  const { options, buildFolder, log, signal } = context;
  await using resources = new AsyncDisposableStack();
  // Released after everything else has ended.
  resources.use(await claimNode(options.statusSocket, buildFolder));
  const probes = new Probes();
  const edges = await openEdges(context, resources);
  probes.ready = () => reasonsNotStarted({ inputs: edges.inputs, connected: connectedDatabases(edges.databases) });
  await serveMetrics(context, edges, probes, resources);
  try {
    // Its file is in its place when the configuration names it, and until then nobody calls it.
    const [node, plugin] = await Promise.all([
      startNode(context, { edges, probes }, resources),
      keepPlugin(context, resources),
    ]);
    await serveNode(context, { ...node, plugin }, resources);
    signal.throwIfAborted();
    await Promise.race([once(signal, 'abort'), failure(edges)]);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  log.info('stopping');
};

/** Without the kernel no pod can be served any more: a new process can, and what is programmed stays meanwhile. */
const failure = async ({ netlink }: Edges): Promise<never> => {
  throw await netlink.whenEnded();
};

interface Outside {
  readonly edges: Edges;
  readonly probes: Probes;
}

interface Node extends Outside, OpenDatapath, ProgrammedNode {
  readonly local: LocalNode;
  readonly keeper: NodeKeeper;
  readonly nodePorts: NodePorts;
  readonly noFilters: ReturnType<typeof findNoFilters>;
}

/** From what is known to what is programmed. Resolves when everything has been rendered once. */
const startNode = async (
  context: AgentContext,
  { edges, probes }: Outside,
  resources: AsyncDisposableStack,
): Promise<Node> => {
  const { options, log, signal } = context;
  const keeper = keepNode({ options, edges, log }, resources);
  // Meanwhile: the kernel is asked whether it can, and nothing waits for the answer before pods can be added.
  const noFilters = findNoFilters(edges.netlink.pods, log);
  const local = await meetNode(context, edges, keeper);
  const { datapath, filters } = openDatapath(context, edges, resources);
  const nodePorts = serveNodePorts({ edges, node: local.name, probes, log }, resources);
  await announce({ edges, options, log }, signal);
  const known = { edges, local, keeper, datapath, nodePorts };
  return { ...known, probes, filters, noFilters, ...programNode(context, known, resources) };
};

/**
 * Pods can be added; what a former agent has left is put in order. Resolves when the whole desired state has been written
 * once.
 */
const serveNode = async (
  context: AgentContext,
  node: Node & { readonly plugin: PluginKeeper },
  resources: AsyncDisposableStack,
): Promise<void> => {
  const { options, buildFolder, log, signal } = context;
  const { edges, core, datapath, reconcilers, plugin } = node;
  const prerequisites = await openPrerequisites(context, node);
  const { ports } = prerequisites;
  logVersions(daemonVersions(edges.databases), log);
  const health = startHealth({ ...node, log }, resources);
  const cniIsOpen = openProbes({ ...node, ...prerequisites, health });
  const foreign = new ForeignAttachments({
    store: recordStore(options.multiNetwork.attachmentFolder),
    routes: podRoutes(edges.netlink),
    deviceInfo: deviceInfoFiles(),
    onUnreported: ({ namespace, name, uid }, message) =>
      edges.emitPodEvent({ namespace, name, uid }, 'ErrorUpdatingResource', message),
  });
  const status = keepNetworkStatus(context, { edges, core, ports, foreign }, resources);
  const handler = await startCni(context, { ...node, ...prerequisites, foreign, status }, resources);
  cniIsOpen(plugin);
  const sources = await startStatus(context, { ...node, ...prerequisites, handler, status, health }, resources);
  // Before the status socket closes: whoever cleans the node asks there whether an agent may put files back.
  resources.defer(() => plugin.stop());
  const { replica } = edges.databases.openvswitch;
  await untilReady({ ...prerequisites, facts: core.facts, replica, nftables: datapath.nftables }, signal);
  await plugin.open();
  log.info('ready');
  const { registry } = core;
  resources.use(await keepFilters(node.filters, { registry, ports, interfaces: edges.netlink.pods, log }));
  resources.use(await keepLinks({ ...edges, ports, handler, log }));
  const pods = new Set([...registry.values()].map(({ pod }) => pod.uid));
  const removed = await handler.removeOrphans(pods, signal);
  if (removed.length > 0) log.info({ interfaces: removed }, 'removed interfaces of deleted pods');
  await status.adopt();
  const folders = await removeAbandoned(dirname(options.statusSocket), systemClock.wall());
  if (folders.length > 0) log.info({ folders }, 'removed files of captures that were killed');
  await enough(WRITTEN_MS, signal, (soon) => whenIdle(reconcilers, soon));
  resources.defer(startNetworkReport({ ...node, databases: edges.databases, options, log, sources, health }));
  await releaseStart(edges.netlink, buildFolder).catch((error: unknown) =>
    log.warn({ err: error }, 'startup memory not returned to the system'),
  );
};

/** The worker's first: what it frees in the C library's memory is given back with that of this thread. */
const releaseStart = async (netlink: Edges['netlink'], buildFolder: string): Promise<void> => {
  await netlink.collectGarbage();
  await releaseMemory(join(buildFolder, 'memory.node'));
};

/** A backend that does not answer keeps nobody from saying so. */
const WRITTEN_MS = 60_000;
