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
import { join } from 'node:path';
import type { Logger } from 'pino';
import { systemClock } from '../base/clock.ts';
import { openConntrack } from '../datapath/conntrack/conntrack.ts';
import { loadPeerCredentials } from '../datapath/unix-socket/peer-credentials.ts';
import { releaseMemory } from '../program/release-memory.ts';
import { CniHandler, cniLimits } from './cni/handler.ts';
import { installConfiguration, installPlugin } from './cni/install.ts';
import { type FilterWatch, findNoFilters, keepFilters } from './cni/keep-filters.ts';
import { serveCni } from './cni/server.ts';
import { VswitchPorts } from './cni/vswitch-ports.ts';
import { connectionLimit, readTableSize } from './connections/limit.ts';
import { startConnectionUsage } from './connections/start.ts';
import { type Core, RETRY_MS, startCore } from './core.ts';
import type { Databases } from './databases/databases.ts';
import { type Edges, openEdges } from './edges.ts';
import { encryptionState } from './encryption/encryption.ts';
import { startPeerWatch } from './encryption/start.ts';
import { logDatapath } from './log.ts';
import { type AgentMetrics, observeQueues } from './metrics/metrics.ts';
import { serveMetrics } from './metrics/serve.ts';
import type { FactStore } from './model/fact-store.ts';
import { LOCAL } from './model/facts.ts';
import { nodeAnnotations } from './node/annotations.ts';
import { type Cgroups, startCgroups } from './node/cgroups/index.ts';
import { keepNode } from './node/keep-node.ts';
import { awaitLocalNode, type LocalNode } from './node/local-node.ts';
import { followNeighbours } from './node/neighbours/follow-neighbours.ts';
import type { NodeKeeper } from './node/node-keeper.ts';
import { publishNode } from './node/publisher.ts';
import type { NodePorts } from './node-ports/node-ports.ts';
import { serveNodePorts } from './node-ports/start.ts';
import type { AgentOptions } from './options/options.ts';
import type { GoneNetworks } from './reconcile/gone-networks.ts';
import { IsolationState } from './reconcile/isolation-state.ts';
import { DATAPATH_BACKENDS, NodeDatapath } from './reconcile/node-datapath.ts';
import { openBackends } from './reconcile/open-backends.ts';
import { type Reconcilers, reconcilersOf, whenIdle } from './reconcile/reconcilers.ts';
import { ServiceConnections } from './reconcile/service-connections.ts';
import { startFormerBackends } from './reconcile/start-former-backends.ts';
import { startGoneNetworks } from './reconcile/start-gone-networks.ts';
import { followSwitch } from './reconcile/switch-return.ts';
import { reasonsNotAlive, reasonsNotProxying, reasonsNotServing } from './status/health.ts';
import { countNetworkObjects } from './status/network-objects.ts';
import { announce, startNetworkReport } from './status/network-report/start.ts';
import { connectedDatabases, gatewayKnowledge, Probes } from './status/probes.ts';
import { Readiness, reasonsNotReady } from './status/readiness.ts';
import { reportSources } from './status/report-sources.ts';
import { serveStatus } from './status/server.ts';
import { untilReady } from './status/until-ready.ts';

interface Context {
  readonly options: AgentOptions;
  /** Where the build has put the shim and the addons. */
  readonly buildFolder: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Runs until `signal` aborts. @throws what keeps it from starting */
export const runAgent = async (context: Context): Promise<void> => {
  const { options, buildFolder, log, signal } = context;
  await using resources = new AsyncDisposableStack();
  const readiness = new Readiness();
  const probes = new Probes();
  const edges = await openEdges(options, buildFolder, log, resources);
  await serveMetrics(context, edges, probes, resources);
  try {
    const keeper = keepNode({ options, edges, log }, resources);
    const [local] = await Promise.all([meetNode(context, edges), keeper.whenKnown(signal)]);
    for (const { message } of keeper.problems()) log.warn({ reason: message }, 'node not as it should be');
    const { datapath, filters } = openDatapath(context, edges, resources);
    const nodePorts = serveNodePorts({ edges, node: local.name, probes, log }, resources);
    await announce({ edges, options, log }, signal);
    const started = startNode(context, edges, { local, keeper, datapath, nodePorts }, resources);
    const node = { edges, ...started, local, keeper, datapath, filters, nodePorts, readiness, probes };
    await serveNode(context, node, resources);
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

const meetNode = async ({ options, log, signal }: Context, { inputs, databases }: Edges): Promise<LocalNode> => {
  const waiting = (what: string): void => log.info({ what }, 'waiting');
  const [local] = await Promise.all([
    awaitLocalNode(
      {
        name: options.node,
        encapIps: options.encapIps,
        nodes: inputs.nodes,
        vswitch: databases.openvswitch.replica,
        waiting,
      },
      signal,
    ),
    inputs.whenSynced(signal),
    knowNeighbours(databases, signal),
  ]);
  log.info({ chassis: local.chassisId, encapIps: local.encapIps }, 'this node is known');
  return local;
};

/** What the bridge answers with is not to be taken away first by an agent that starts again. */
const knowNeighbours = ({ neighbours }: Databases, signal: AbortSignal): Promise<void> =>
  // Without them, networks ask outside.
  enough(NEIGHBOURS_MS, signal, (soon) => neighbours.whenSynced(soon));

const NEIGHBOURS_MS = 2_000;

/** Goes on when it has waited long enough. @throws what `wait` throws before */
const enough = async (
  milliseconds: number,
  signal: AbortSignal,
  wait: (soon: AbortSignal) => Promise<void>,
): Promise<void> => {
  const end = new AbortController();
  const cancel = systemClock.schedule(milliseconds, () => end.abort());
  try {
    await wait(AbortSignal.any([signal, end.signal]));
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    cancel();
  }
};

const spawnAddonIn = (buildFolder: string): string => join(buildFolder, 'spawn.node');

const openDatapath = (
  { options, buildFolder, log }: Context,
  { netlink, databases, metrics }: Edges,
  resources: AsyncDisposableStack,
): Pick<Node, 'datapath' | 'filters'> => {
  const { replica, session } = databases.openvswitch;
  const returns = followSwitch({
    ...{ session, replica },
    onReconnect: () => log.info('ovs-vswitchd is back: ovn-controller is made to connect'),
    onError: (error) => log.warn({ err: error }, 'ovn-controller is not made to connect to br-int at once'),
  });
  resources.defer(() => returns.close());
  const connections = new ServiceConnections({
    conntrack: openConntrack(spawnAddonIn(buildFolder)),
    clock: systemClock,
    onError: (error) =>
      log.warn({ err: error }, 'connections to Services that are elsewhere now are not forgotten yet'),
  });
  resources.defer(() => connections.stop());
  const filters: FilterWatch = {};
  const backends = openBackends({
    netlink,
    replica,
    spawnAddon: spawnAddonIn(buildFolder),
    masqueradeSubnets: options.cluster.masqueradeSubnets,
    statusSocket: options.statusSocket,
    sockets: returns.sockets,
    onNftablesWritten: (keys, wanted) => connections.written(keys, (key) => wanted.has(key)),
    onNftablesMonitored: (line) => filters.keeper?.onMonitored(line),
  });
  const datapath = new NodeDatapath({
    backends,
    clock: systemClock,
    observe: (backend, observation) => {
      metrics.datapath(backend, observation);
      logDatapath(log, backend, observation);
    },
  });
  databases.openvswitch.writeAfter((write) => datapath.afterFlows(write));
  resources.defer(() => datapath.stop());
  observeDatapath(metrics, datapath);
  return { datapath, filters };
};

const observeDatapath = ({ gauges }: AgentMetrics, datapath: NodeDatapath): void => {
  gauges('udn_agent_wanted_objects', () =>
    DATAPATH_BACKENDS.map((backend) => [{ backend }, datapath[backend].store.wanted.size] as const),
  );
  gauges('udn_agent_unfinished_objects', () =>
    DATAPATH_BACKENDS.flatMap((backend) =>
      Object.entries(datapath[backend].counts).map(([state, count]) => [{ backend, state }, count] as const),
    ),
  );
  gauges('udn_agent_network_objects', () =>
    countNetworkObjects(datapath).map(({ network, backend, count }) => [{ network, backend }, count] as const),
  );
};

const followCgroups = (facts: FactStore, { options, log }: Context, { tellNode }: Edges): Cgroups => {
  const { kubeletCgroup, node } = options;
  const onUnwatched = (error: unknown, path: string): void =>
    log.warn({ err: error, cgroup: path }, 'cgroups cannot be watched; they are read every 15 s');
  const cgroups = startCgroups({ facts, kubelet: kubeletCgroup, onUnwatched });
  if (!cgroups.supported) {
    const message = 'there is no cgroup v2: kubelet cannot be told from other processes, so it does not reach pods of';
    tellNode(node, 'UDNKubeletProbesNotSupported', `${message} primary networks on the default network`);
  }
  return cgroups;
};

const neighbours = (facts: FactStore, node: string, { databases }: Edges, log: Logger): (() => void) => {
  const child = log.child({ module: 'neighbours' });
  return followNeighbours({
    node,
    facts,
    replica: databases.neighbours,
    session: databases.southbound.session,
    onCorrected: ({ ip, mac, routers }) =>
      child.info({ ip, mac, routers }, 'gateway routers told where a neighbour is'),
    onError: (error) => child.warn({ err: error }, 'gateway routers not told where a neighbour is'),
  });
};

const startNode = (
  context: Context,
  edges: Edges,
  { local, keeper, datapath, nodePorts }: Pick<Node, 'local' | 'keeper' | 'datapath' | 'nodePorts'>,
  resources: AsyncDisposableStack,
): Pick<Node, 'core' | 'reconcilers' | 'gone'> => {
  const { options, buildFolder, log } = context;
  const { cluster, southboundRemote, networkRendering } = options;
  const { inputs, databases, writer, tellPod, tellService, tellNode, metrics } = edges;
  const core = startCore({
    settings: {
      ...{ node: local.name, cluster, encapIps: local.encapIps, southboundRemote },
      ...{ networkRendering, allowedDefaultServices: options.allowedDefaultServices, encryption: options.encryption },
      connectionLimit: connectionLimit(options.connectionsPerNetwork, readTableSize()),
    },
    inputs,
    databases,
    local: keeper,
    datapath: { ...datapath.sinks, nodePorts: nodePorts.sink },
    followNeighbours: (facts) => neighbours(facts, local.name, edges, log),
    followCgroups: (facts) => followCgroups(facts, context, edges),
    writer,
    tellPod,
    tellService,
    tellNode,
    networkGraceMs: options.networkGraceSeconds * 1000,
    onRendered: metrics.rendered,
  });
  resources.defer(() => core.stop());
  databases.reconcile();
  datapath.start();
  nodePorts.start();
  const conntrack = openConntrack(spawnAddonIn(buildFolder));
  startFormerBackends({ databases, conntrack, log }, resources);
  const settings = { cluster, networkRendering };
  const reconcilers = reconcilersOf(databases, datapath);
  const gone = startGoneNetworks({ core, databases, reconcilers, inputs, settings, conntrack, log }, resources);
  const publisher = publishNode({
    node: local.name,
    wanted: () => nodeAnnotations(keeper.identity),
    nodes: inputs.nodes,
    writer,
    onError: (error) => log.error({ err: error }, 'node not published'),
    later: (retry) => systemClock.schedule(RETRY_MS, retry),
  });
  resources.defer(keeper.listen(() => publisher.publish()));
  resources.defer(() => publisher.stop());
  return { core, reconcilers, gone };
};

interface Node {
  readonly edges: Edges;
  readonly core: Core;
  readonly reconcilers: Reconcilers;
  readonly gone: GoneNetworks;
  readonly local: LocalNode;
  readonly keeper: NodeKeeper;
  readonly datapath: NodeDatapath;
  readonly filters: FilterWatch;
  readonly nodePorts: NodePorts;
  readonly readiness: Readiness;
  readonly probes: Probes;
}

/** From now on the probes say what is. @returns to be called when CNI is served */
const openProbes = ({ edges, core, keeper, reconcilers, readiness, probes }: Node): (() => void) => {
  const { databases, metrics } = edges;
  const queues = () => new Map([...reconcilers].map(([backend, reconciler]) => [backend, reconciler.queue()] as const));
  observeQueues(metrics, queues);
  metrics.gauge('udn_agent_kubelet_cgroup_found', () => Number(core.facts.get('kubeletCgroup', LOCAL) !== undefined));
  let isCniOpen = false;
  const connected = connectedDatabases(databases);
  probes.alive = () => reasonsNotAlive(queues());
  probes.proxying = () => reasonsNotProxying({ connected, queues });
  probes.ready = () =>
    reasonsNotServing({
      podReasons: () => readiness.reasons(),
      isCniOpen: () => isCniOpen,
      connected,
      queues,
      gateway: () => gatewayKnowledge(keeper),
    });
  return () => {
    isCniOpen = true;
  };
};

const serveNode = async (context: Context, node: Node, resources: AsyncDisposableStack): Promise<void> => {
  const { options, buildFolder, log, signal } = context;
  const { edges, core, gone, local, keeper, datapath, reconcilers, nodePorts, readiness, probes } = node;
  const { databases, netlink, inputs, tellPod, metrics } = edges;
  const ports = new VswitchPorts(databases.openvswitch.session, databases.openvswitch.replica);
  const isolation = new IsolationState(datapath.nftables);
  const { replica } = databases.openvswitch;
  const encryption = encryptionState({ encryption: options.encryption, replica, isolation });
  const noFilters = await findNoFilters(netlink.pods, log);
  const looked = { node: local.name, inputs, facts: core.facts, ports, netlink, isolation, noFilters, encryption };
  readiness.check = () => reasonsNotReady(looked);
  const cniIsOpen = openProbes(node);
  const handler = new CniHandler({
    registry: core.registry,
    interfaces: netlink.pods,
    ports,
    isolation,
    notReady: () => readiness.reasons(),
    tellPod: (pod, message) => tellPod(pod, 'ErrorAttachingPod', message),
    onGarbage: (interfaces) => log.info({ interfaces }, 'interfaces that no attachment has were removed by GC'),
    clock: systemClock,
    observe: metrics.cni,
    limits: cniLimits(options.cniWaitSeconds),
  });
  const cni = await serveCni({
    path: options.cniSocket,
    handler,
    peerCredentials: loadPeerCredentials(join(buildFolder, 'peercred.node')),
    clock: systemClock,
    maxCalls: MAX_CNI_CALLS,
    requestMs: CNI_REQUEST_MS,
    onRejected: (reason) => log.warn({ reason }, 'CNI caller rejected'),
  });
  cniIsOpen();
  resources.defer(() => cni.close());
  const { cluster, networkRendering } = options;
  const { name } = local;
  const parts = { edges, core, ports, keeper, nodePorts, node: name, cluster, networkRendering, reconcilers };
  const usage = startConnectionUsage({ edges, core, node: name, spawnAddon: spawnAddonIn(buildFolder), log });
  resources.defer(() => usage.stop());
  const peers = startPeerWatch(
    { edges, core, node: name, encryption: options.encryption, spawnAddon: spawnAddonIn(buildFolder), log },
    resources,
  );
  const sources = reportSources({ ...parts, usage, peers, encryption });
  const status = await serveStatus(options.statusSocket, sources, {
    '/metrics': () => metrics.text(),
    '/readyz': () => Promise.resolve(`${probes.ready().join('\n') || 'ok'}\n`),
  });
  resources.defer(() => status.close());
  await installPlugin(join(buildFolder, 'udn-cni'), options.cniBinFolder);
  await untilReady({ readiness, facts: core.facts, replica, nftables: datapath.nftables, encryption }, signal);
  await installConfiguration(options.cniConfFolder);
  log.info('ready');
  resources.use(await keepFilters(node.filters, { registry: core.registry, ports, interfaces: netlink.pods, log }));
  const pods = new Set([...core.registry.values()].map(({ pod }) => pod.uid));
  const removed = await handler.removeOrphans(pods, signal);
  if (removed.length > 0) log.info({ interfaces: removed }, 'interfaces of pods that are gone were removed');
  await enough(START_MS, signal, (soon) => whenIdle(reconcilers, soon));
  resources.defer(startNetworkReport({ edges, options, log, core, databases, datapath, sources, gone }));
  await releaseMemory(join(buildFolder, 'memory.node')).catch((error: unknown) =>
    log.warn({ err: error }, 'the memory of the start was not given back'),
  );
};

/** A place that does not answer keeps nobody from saying so. */
const START_MS = 60_000;

/** A node starts some hundred pods at once when it boots. */
const MAX_CNI_CALLS = 1_000;
const CNI_REQUEST_MS = 10_000;
