/** The agent's parts, put together as `agent/wiring/core.ts` does it, with objects that nobody has written into an API. */

import { join } from 'node:path';
import { NetworkUsage } from '../../agent/cni/attachments/network-usage.ts';
import { createDatabases } from '../../agent/databases/databases.ts';
import { createEngine, type Engine } from '../../agent/desired/engine.ts';
import { FEATURES } from '../../agent/features/index.ts';
import { type ClusterCaches, feedFacts } from '../../agent/inputs/fact-feeder.ts';
import { projectNad } from '../../agent/inputs/nad-projection.ts';
import { projectNamespace } from '../../agent/inputs/namespace-projection.ts';
import { type NodeProjection, projectNode } from '../../agent/inputs/node-projection.ts';
import { type PodProjection, projectPod } from '../../agent/inputs/pod-projection.ts';
import { FactStore } from '../../agent/model/fact-store.ts';
import type { LocalSettings } from '../../agent/model/view.ts';
import { DATAPATH_BACKENDS, NodeDatapath } from '../../agent/reconcile/node-datapath.ts';
import { openBackends } from '../../agent/reconcile/open-backends.ts';
import { DATABASE_NAMES, type Reconcilers, reconcilersOf, whenIdle } from '../../agent/reconcile/reconcilers.ts';
import { MemorySinks } from '../../agent/render/memory-sinks.ts';
import { DEFAULT_ALLOWED_SERVICES, parseAllowedServices } from '../../api/allowed-services.ts';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { systemClock } from '../../base/clock.ts';
import { startNetlink } from '../../datapath/netlink/worker/client.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import { addressOf } from '../../net/cidr.ts';
import { OPT } from '../../sandbox/machine/node-root.ts';
import { NB_SOCKET, OVS_SOCKET, SB_SOCKET } from '../../sandbox/plan/daemons.ts';
import { GATEWAY_BRIDGE, UPLINK } from '../../sandbox/plan/links.ts';
import { planNetwork } from '../../sandbox/plan/netplan.ts';
import {
  LOCAL_NODE,
  nadObject,
  namespaceObject,
  namespaceOf,
  nodeObject,
  podObject,
  type TenantRole,
} from '../render/objects.ts';
import { namespacesOfServices, openServiceCaches } from './service-caches.ts';

/** As nodes see it. */
export const ADDON = join(OPT, 'build', 'nlsock.node');
const SPAWN_ADDON = join(OPT, 'build', 'spawn.node');
const SOUTHBOUND = `unix:${SB_SOCKET}`;
const STATUS_SOCKET = '/run/ovn-udn/agent.sock';
const PATIENCE_MS = 300_000;

export interface BenchAgentSpec {
  /** Numbered from 1. */
  readonly networks: number;
  /** Networks, from the first one on, that have a pod on this node. */
  readonly used?: number;
  readonly networkRendering?: LocalSettings['networkRendering'];
  /** Of the default network, with ten endpoints each, see `published-objects.ts`. */
  readonly services?: number;
}

/** Resolves when the node has what it is to have of the networks, and nothing waits. */
export const startBenchAgent = async (spec: BenchAgentSpec) => {
  const opened = await openAll();
  const { databases, datapath } = opened;
  const cluster = openCluster(spec, chassisOf(databases.openvswitch.replica));
  const engine = startEngine(opened, cluster.caches, spec);
  databases.reconcile();
  datapath.start();
  await settled(opened);
  const done = async (): Promise<void> => {
    engine.flush();
    await settled(opened);
  };
  return {
    add: (number: number, role: TenantRole): Promise<void> => {
      cluster.add(number, role);
      return done();
    },
    remove: (number: number): Promise<void> => {
      cluster.remove(number);
      return done();
    },
    setEndpoints: (service: number, count: number): Promise<void> => {
      cluster.setEndpoints(service, count);
      return done();
    },
    written: (): number =>
      opened.written() + DATABASE_NAMES.reduce((sum, name) => sum + databases[name].reconciler.counts.operations, 0),
    counts: (): Record<string, number> =>
      Object.fromEntries(DATAPATH_BACKENDS.map((name) => [name, datapath[name].store.desired.size])),
    stop: async (): Promise<void> => {
      engine.stop();
      await datapath.stop();
      await databases.close();
      await opened.netlink.close();
    },
  };
};

type Opened = Awaited<ReturnType<typeof openAll>>;

/** The databases, as they are, and the backends. Nothing is written yet. */
const openAll = async () => {
  const netlink = startNetlink({ addonPath: ADDON });
  const remotes = {
    northboundRemote: `unix:${NB_SOCKET}`,
    southboundRemote: SOUTHBOUND,
    ovsRemote: `unix:${OVS_SOCKET}`,
  };
  const databases = createDatabases(remotes, () => undefined);
  databases.connect();
  const { northbound, southbound, openvswitch } = databases;
  // As the agent does: its node is in this one, and the others are still being read while it renders. They have been asked
  // by then, as the agent waits for the API's objects and for the neighbours in the southbound database, too.
  const asked = [northbound, southbound].map(({ session }) => session.whenConnected());
  await Promise.all([openvswitch.replica.whenSynced(), ...asked]);
  const { replica } = openvswitch;
  const { masqueradeSubnets } = parseClusterConfig();
  let written = 0;
  let news = Promise.withResolvers<void>();
  const datapath = new NodeDatapath({
    backends: openBackends({
      netlink,
      replica,
      spawnAddon: SPAWN_ADDON,
      masqueradeSubnets,
      statusSocket: STATUS_SOCKET,
    }),
    clock: systemClock,
    observe: (_, observation) => {
      if (observation.kind === 'reconciled') written += observation.written;
      news.resolve();
    },
  });
  openvswitch.writeAfter((write) => datapath.afterFlows(write));
  return {
    netlink,
    databases,
    datapath,
    reconcilers: reconcilersOf(databases, datapath),
    written: (): number => written,
    /** Of what a backend has done from now on. */
    nextNews: (): PromiseWithResolvers<void> => {
      news = Promise.withResolvers();
      return news;
    },
  };
};

const startEngine = (
  { databases, datapath }: Opened,
  caches: ClusterCaches,
  { networkRendering = 'always' }: BenchAgentSpec,
): Engine => {
  const gateway = localGateway();
  const settings = {
    node: LOCAL_NODE,
    cluster: parseClusterConfig(),
    encapIps: gateway.addresses.slice(0, 1).map(addressOf),
    southboundRemote: SOUTHBOUND,
    networkRendering,
    allowedDefaultServices: parseAllowedServices(DEFAULT_ALLOWED_SERVICES),
  };
  const facts = new FactStore();
  facts.set('gateway', LOCAL_NODE, gateway);
  facts.set('hostAddresses', LOCAL_NODE, gateway.addresses);
  const engine = createEngine({
    features: FEATURES,
    facts,
    settings,
    sinks: {
      ...new MemorySinks(),
      northbound: databases.northbound.desired,
      southbound: databases.southbound.desired,
      openvswitch: databases.openvswitch.desired,
      ...datapath.sinks,
      usage: new NetworkUsage({ facts, clock: systemClock, graceMs: PATIENCE_MS }),
    },
    schedule: (flush) => setImmediate(flush),
  });
  feedFacts(facts, caches, settings, LOCAL_NODE);
  engine.start();
  engine.flush();
  return engine;
};

/** Resolves when nothing is to be done and nothing waits: a backend reports what can go on. */
const settled = async (opened: Opened): Promise<void> => {
  const { reconcilers, nextNews } = opened;
  const patience = AbortSignal.timeout(PATIENCE_MS);
  for (;;) {
    const news = nextNews();
    await whenIdle(reconcilers, patience);
    if (isSettled(opened)) return;
    const late = (): void => {
      news.reject(new Error(`not done: ${openProblems(reconcilers).slice(0, 5).join('; ')}`));
    };
    patience.addEventListener('abort', late, { once: true });
    await news.promise;
    patience.removeEventListener('abort', late);
  }
};

/** By counts: what this kernel cannot have at all is not waited for, and is too much to be gone through each time. */
const isSettled = ({ databases, datapath }: Opened): boolean =>
  DATABASE_NAMES.every((name) => databases[name].reconciler.problems().length === 0) &&
  DATAPATH_BACKENDS.every((name) => datapath[name].counts.failed + datapath[name].counts.waiting === 0);

const openProblems = (reconcilers: Reconcilers): string[] =>
  [...reconcilers.values()].flatMap((reconciler) =>
    reconciler
      .problems()
      .flatMap(({ owner, key = owner, status: { kind, message } }) =>
        kind === 'unsupported' ? [] : [`${key}: ${message}`],
      ),
  );

const chassisOf = (replica: {
  rows(table: 'Open_vSwitch'): Iterable<{ readonly external_ids: Readonly<Record<string, string>> }>;
}) => {
  const [row] = replica.rows('Open_vSwitch');
  return row?.external_ids['system-id'];
};

/** What the keeper of the node would find out. */
const localGateway = () => {
  const { nodes, gateway } = planNetwork('dual', 1);
  const [node] = nodes;
  if (node === undefined) throw new Error('no node');
  return {
    mode: 'shared' as const,
    bridge: GATEWAY_BRIDGE,
    interfaceId: `${GATEWAY_BRIDGE}_${LOCAL_NODE}`,
    mac: node.mac,
    addresses: node.addresses,
    nextHops: gateway.map(addressOf),
    nodePortEnable: true,
    vlanId: 0,
    uplink: UPLINK,
  };
};

/** The API's objects: this node, another one, and tenants with a network each. */
const openCluster = ({ networks, used = 0, services: count = 0 }: BenchAgentSpec, chassis: string | undefined) => {
  const tenants = new Set(Array.from({ length: networks }, (_, index) => index + 1));
  const projected = (node: number, before?: NodeProjection) =>
    projectNode(nodeObject(node, [...tenants], node === 1 ? chassis : undefined), before);
  const { services, slices, setEndpoints } = openServiceCaches(count);
  const caches = {
    nodes: createStaticCache([1, 2].map((node) => [`node-${node}`, projected(node)] as const)),
    namespaces: createStaticCache([
      ...namespacesOfServices(count),
      ...[...tenants].map((tenant) => [namespaceOf(tenant), projectNamespace(namespaceObject(tenant))] as const),
    ]),
    nads: createStaticCache([...tenants].map((tenant) => [nadKey(tenant), projectedNad(tenant)] as const)),
    pods: createStaticCache(Array.from({ length: used }, (_, index) => projectedPod(index + 1))),
    services,
    slices,
  };
  const project = (): void => {
    for (const node of [1, 2]) {
      const key = `node-${node}`;
      caches.nodes.set(key, projected(node, caches.nodes.get(key)));
    }
  };
  return {
    caches,
    setEndpoints,
    /** The namespace and the NAD, and then the nodes' annotations with its subnets, as the cluster manager writes them. */
    add: (tenant: number, role: TenantRole): void => {
      caches.namespaces.set(namespaceOf(tenant), projectNamespace(namespaceObject(tenant, role)));
      caches.nads.set(nadKey(tenant), projectedNad(tenant, role));
      // Nodes have parts of layer-3 networks only.
      if (role === 'secondary') return;
      tenants.add(tenant);
      project();
    },
    remove: (tenant: number): void => {
      if (tenants.delete(tenant)) project();
      caches.nads.remove(nadKey(tenant));
      caches.namespaces.remove(namespaceOf(tenant));
    },
  };
};

/** Its only one. */
const projectedPod = (tenant: number): [string, PodProjection] => {
  const pod = podObject(tenant, 0);
  const projection = projectPod(pod, LOCAL_NODE);
  if (projection === undefined || projection.problems.length > 0) throw new Error('the pod cannot be read');
  return [`${pod.metadata.namespace}/${pod.metadata.name}`, projection];
};

const nadKey = (tenant: number): string => `${namespaceOf(tenant)}/net`;

const projectedNad = (tenant: number, role: TenantRole = 'primary') => {
  const projection = projectNad(nadObject(tenant, role));
  if (projection === undefined) throw new Error('not our NAD');
  return projection;
};
