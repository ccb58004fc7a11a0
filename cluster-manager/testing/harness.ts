/** A cluster manager on an API server in memory, for tests. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  DNS_NAME_RESOLVERS,
  EGRESS_FIREWALLS,
  IPAM_CLAIMS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  NETWORK_ID_POOLS,
  NODE_NETWORK_REPORTS,
  USER_DEFINED_NETWORKS,
} from '../../api/resources.ts';
import { DEFINITIONS } from '../../api/testing/definitions.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import { isNotFound, KubeError } from '../../kube/errors.ts';
import type { EventInput } from '../../kube/events/types.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, ENDPOINT_SLICES, NAMESPACES, NODES, PODS } from '../../kube/resources.ts';
import type { KubeClient, KubeObject, ObjectInput, ObjectRef, ResourceType } from '../../kube/types.ts';
import type { NetworkLimits } from '../allocation/network-room.ts';
import { createManager, type Manager, type ManagerObservation } from '../controllers/manager.ts';

const RESOURCES: Readonly<Record<string, ResourceType>> = {
  Namespace: NAMESPACES,
  Node: NODES,
  Pod: PODS,
  UserDefinedNetwork: USER_DEFINED_NETWORKS,
  ClusterUserDefinedNetwork: CLUSTER_USER_DEFINED_NETWORKS,
  NetworkAttachmentDefinition: NETWORK_ATTACHMENT_DEFINITIONS,
  IPAMClaim: IPAM_CLAIMS,
  EgressFirewall: EGRESS_FIREWALLS,
  NodeNetworkReport: NODE_NETWORK_REPORTS,
  NetworkIdPool: NETWORK_ID_POOLS,
  EndpointSlice: ENDPOINT_SLICES,
  DNSNameResolver: DNS_NAME_RESOLVERS,
};

export interface TestCluster {
  readonly client: KubeClient;
  readonly events: EventInput[];
  readonly observations: ManagerObservation[];
  /** Of the manager that runs now. */
  readonly manager: Manager;
  start(): void;
  /** Ends the manager; what it held in memory is gone. */
  stop(): Promise<void>;
  create(...objects: readonly ObjectInput[]): Promise<void>;
  get(kind: string, key: string): Promise<KubeObject | undefined>;
  list(kind: string): Promise<readonly KubeObject[]>;
  patch(kind: string, key: string, body: unknown, subresource?: string): Promise<void>;
  delete(kind: string, key: string): Promise<void>;
  /** The same, and then `settled`. */
  createAndSettle(...objects: readonly ObjectInput[]): Promise<void>;
  patchAndSettle(kind: string, key: string, body: unknown, subresource?: string): Promise<void>;
  deleteAndSettle(kind: string, key: string): Promise<void>;
  /** Resolves when the API server and the manager have nothing left to do. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface TestClusterOptions {
  readonly config?: ClusterConfig;
  readonly limits?: NetworkLimits;
  /** Namespace of DNSNameResolvers. */
  readonly dnsNameResolver?: string;
  /** Of the manager. Default: what is tried again after a while is tried again at once. */
  readonly clock?: Clock;
  /** Of the manager's waiting times. */
  readonly random?: () => number;
  /** Of the API server: what is made in one second is of one age. */
  readonly serverClock?: Clock;
  /** Asked before each write of the manager: whether it fails, and whether the server has done it all the same. */
  readonly fault?: (resource: ResourceType, ref: ObjectRef) => Fault | undefined;
  /** What is between the manager and the API server. */
  readonly wire?: (client: KubeClient) => KubeClient;
}

export interface Fault {
  readonly status: number;
  readonly isDone: boolean;
}

export const createTestCluster = async (options: TestClusterOptions = {}): Promise<TestCluster> => {
  const { config = parseClusterConfig(), clock = impatientClock, fault = () => undefined, wire = direct } = options;
  const server = createEmbeddedCluster({ clock: options.serverClock ?? systemClock });
  const client = server.client('test');
  for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  await server.settled();
  const events: EventInput[] = [];
  const observations: ManagerObservation[] = [];
  let running: { manager: Manager; stop: AbortController; ended: Promise<void> } | undefined;
  let version = '0';

  const start = (): void => {
    const stop = new AbortController();
    const manager = createManager({
      client: wire(withFaults(server.client('udn-cluster-manager'), fault)),
      clock,
      random: options.random,
      events: { record: (event) => events.push(event), flush: () => Promise.resolve() },
      cluster: config,
      limits: options.limits,
      dnsNameResolver: options.dnsNameResolver,
      observe: (observation) => observations.push(observation),
    });
    running = { manager, stop, ended: manager.run(stop.signal) };
  };
  const stop = async (): Promise<void> => {
    await nextTurn();
    running?.stop.abort();
    await running?.ended;
    running = undefined;
  };
  const current = (): Manager => {
    if (running === undefined) throw new Error('no manager runs');
    return running.manager;
  };
  /** The manager has seen everything up to now when it has seen a namespace that was touched now. */
  const settled = async (): Promise<void> => {
    for (let quiet = 0; quiet < 2; ) {
      await server.settled();
      const { resourceVersion } = await client.list(PODS, { limit: 1 });
      if (running !== undefined) await caughtUp(running.manager);
      await running?.manager.idle();
      quiet = resourceVersion === version ? quiet + 1 : 0;
      version = resourceVersion;
    }
  };
  const writes = writesTo(client);
  return {
    ...writes,
    createAndSettle: (...objects) => writes.create(...objects).then(settled),
    patchAndSettle: (...change) => writes.patch(...change).then(settled),
    deleteAndSettle: (kind, key) => writes.delete(kind, key).then(settled),
    client,
    events,
    observations,
    get manager() {
      return current();
    },
    start,
    stop,
    get: async (kind, key) => {
      try {
        return await client.get(resourceOf(kind), refOf(key));
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    list: async (kind) => (await client.list(resourceOf(kind))).items,
    settled,
    close: async () => {
      await stop();
      server.close();
    },
  };
};

const writesTo = (client: KubeClient): Pick<TestCluster, 'create' | 'patch' | 'delete'> => ({
  create: async (...objects) => {
    for (const object of objects) await client.create(resourceOf(object.kind ?? ''), object);
  },
  patch: async (kind, key, body, subresource) => {
    await client.patch(resourceOf(kind), refOf(key), { type: 'merge', body }, { subresource });
  },
  delete: async (kind, key) => {
    await client.delete(resourceOf(kind), refOf(key), { gracePeriodSeconds: 0 });
  },
});

const direct = (client: KubeClient): KubeClient => client;

const withFaults = (client: KubeClient, fault: NonNullable<TestClusterOptions['fault']>): KubeClient => {
  const disturbed = async <Value>(
    [resource, ref]: readonly [ResourceType, ObjectRef, ...unknown[]],
    write: () => Promise<Value>,
  ): Promise<Value> => {
    const happens = fault(resource, ref);
    if (happens === undefined) return write();
    if (happens.isDone) await write();
    throw new KubeError('ERR_KUBE_STATUS', 'a fault of the test', { status: happens.status });
  };
  return {
    ...client,
    create: (resource, object, ...rest) => {
      const { namespace, name = '' } = object.metadata;
      return disturbed([resource, { namespace, name }], () => client.create(resource, object, ...rest));
    },
    patch: (...request) => disturbed(request, () => client.patch(...request)),
    delete: (...request) => disturbed(request, () => client.delete(...request)),
  };
};

/** What is tried again after a while is tried again at once; watchdogs never bark. */
const impatientClock: Clock = {
  ...systemClock,
  schedule: (milliseconds, callback) => {
    const wait = setTimeout(callback, milliseconds > 30_000 ? milliseconds : 0);
    return () => clearTimeout(wait);
  },
};

const resourceOf = (kind: string): ResourceType => {
  const resource = RESOURCES[kind];
  if (resource === undefined) throw new Error(`no resource is known for ${kind}`);
  return resource;
};

const refOf = (key: string): ObjectRef => {
  const [first = '', second] = key.split('/');
  return second === undefined ? { name: first } : { namespace: first, name: second };
};

/** Events travel over watches: a turn of the event loop lets what is buffered through. */
const caughtUp = async (manager: Manager): Promise<void> => {
  const { caches } = manager.mirrors;
  await Promise.all(Object.values(caches).map((cache: { whenSynced(): Promise<void> }) => cache.whenSynced()));
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
};
