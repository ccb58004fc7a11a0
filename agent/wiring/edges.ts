/** What the agent holds of the world: the API, the databases, the kernel. Each heals by itself. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import { type NetlinkWorker, startNetlink } from '../../datapath/netlink/worker/client.ts';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import { createEventRecorder } from '../../kube/events/recorder.ts';
import { createOutage, type Outage } from '../../kube/outage.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Writer } from '../../kube/writer/types.ts';
import { createWriter } from '../../kube/writer/writer.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { createDatabases, type Databases } from '../databases/databases.ts';
import { type ClusterInputs, createClusterInputs } from '../inputs/cluster-inputs.ts';
import { logDatabase, logReflector, logWriter } from '../log.ts';
import { type AgentMetrics, createAgentMetrics } from '../metrics/metrics.ts';
import { watchLostAddresses } from '../node/lost-addresses.ts';
import type { AgentOptions } from '../options/options.ts';
import { DriftWatch } from '../status/drift-watch.ts';
import {
  type EmitNodeEvent,
  type EmitPodEvent,
  type EmitServiceEvent,
  nodeEvents,
  podEvents,
  serviceEvents,
} from '../status/pod-events.ts';
import { type EmitPolicyEvent, policyEvents } from '../status/policy-events.ts';
import { findApiServer } from './api-server.ts';
import type { AgentContext } from './context.ts';

export const NAME = 'udn-agent';

export interface Edges {
  readonly drift: DriftWatch;
  readonly metrics: AgentMetrics;
  readonly databases: Databases;
  readonly netlink: NetlinkWorker;
  readonly inputs: ClusterInputs;
  readonly client: Pick<KubeClient, 'get' | 'list' | 'request'>;
  /** The API server's URL. */
  readonly server: string;
  readonly writer: Writer;
  /** Of the API server. */
  readonly outage: Pick<Outage, 'since' | 'unauthorizedSince'>;
  readonly emitPodEvent: EmitPodEvent;
  readonly emitServiceEvent: EmitServiceEvent;
  readonly emitNodeEvent: EmitNodeEvent;
  readonly emitPolicyEvent: EmitPolicyEvent;
}

/** @param resources closes everything when the agent ends */
export const openEdges = async (
  { options, buildFolder, log }: AgentContext,
  resources: AsyncDisposableStack,
): Promise<Edges> => {
  const metrics = createAgentMetrics();
  const drift = new DriftWatch(systemClock);
  const netlink = resources.use(startNetlink({ addonPath: join(buildFolder, 'nlsock.node') }));
  const databases = createDatabases(options, (database, observation) => {
    metrics.database(database, observation);
    if (observation.kind === 'reconciler' && observation.event.kind === 'drift') drift.repaired(database);
    logDatabase(log, database, observation);
  });
  resources.defer(() => databases.close());
  databases.connect();
  return { metrics, drift, netlink, databases, ...(await openApi(options, netlink, log, resources)) };
};

const openApi = async (
  options: AgentOptions,
  netlink: Pick<NetlinkWorker, 'watch'>,
  log: Logger,
  resources: AsyncDisposableStack,
): Promise<
  Pick<
    Edges,
    | 'inputs'
    | 'client'
    | 'server'
    | 'writer'
    | 'outage'
    | 'emitPodEvent'
    | 'emitServiceEvent'
    | 'emitNodeEvent'
    | 'emitPolicyEvent'
  >
> => {
  const { kubeconfig, context, node } = options;
  const findServer = findApiServer(options, log);
  const connection = await loadConnection({ kubeconfig, context, env: process.env, findServer });
  const client = connect(connection, {
    userAgent: `${NAME}/${packageJson.version}`,
    lostAddresses: (listener) => resources.defer(watchLostAddresses(netlink, listener)),
  });
  resources.defer(() => client.close());
  const outage = createOutage();
  const inputs = createClusterInputs({
    client,
    outage,
    node,
    dnsNameResolver: options.dnsNameResolver,
    observe: (resource, observation) => logReflector(log, resource, observation),
  });
  const stop = new AbortController();
  const running = inputs.run(stop.signal);
  resources.defer(async () => {
    stop.abort();
    await running;
  });
  const recorder = createEventRecorder({ client, component: NAME, host: node });
  const writer = createWriter({
    client,
    outage,
    fieldManager: NAME,
    observe: (observation) => logWriter(log, observation),
  });
  return {
    ...{ inputs, client, server: connection.server, writer, outage },
    ...{
      emitPodEvent: podEvents(recorder),
      emitServiceEvent: serviceEvents(recorder),
      emitNodeEvent: nodeEvents(recorder),
      emitPolicyEvent: policyEvents(recorder),
    },
  };
};
