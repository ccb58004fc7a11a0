/** The CNI server of a running agent. */
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { loadPeerCredentials } from '../../datapath/unix-socket/peer-credentials.ts';
import type { Readiness } from '../status/readiness.ts';
import type { AgentContext } from '../wiring/context.ts';
import type { Core } from '../wiring/core.ts';
import type { Edges } from '../wiring/edges.ts';
import type { NetworkStatusKeeper } from './attachments/status-keeper.ts';
import { logCallFailure } from './call-failure.ts';
import type { ForeignAttachments } from './foreign/foreign-attachments.ts';
import { CniHandler } from './handler.ts';
import type { HostIsolation } from './host-isolation.ts';
import { cniLimits } from './limits.ts';
import type { OvsPorts } from './ovs-ports.ts';
import { serveCni } from './server.ts';

interface Parts {
  readonly edges: Pick<Edges, 'netlink' | 'metrics' | 'emitPodEvent'>;
  readonly core: Pick<Core, 'registry' | 'annotator' | 'feeder'>;
  readonly ports: OvsPorts;
  readonly isolation: HostIsolation;
  readonly foreign: ForeignAttachments;
  readonly status: NetworkStatusKeeper;
  readonly readiness: Pick<Readiness, 'reasons'>;
}

/** Resolves when it listens. @param resources closes it when the agent ends */
export const startCni = async (
  { options, buildFolder, log }: AgentContext,
  { edges: { netlink, metrics, emitPodEvent }, core, ports, isolation, foreign, status, readiness }: Parts,
  resources: AsyncDisposableStack,
): Promise<CniHandler> => {
  const handler = new CniHandler({
    registry: core.registry,
    interfaces: netlink.pods,
    ports,
    isolation,
    releasePolicies: () => core.feeder.policies.release(),
    status,
    shortageOf: (pod) => core.annotator.starved().get(pod),
    notReady: () => readiness.reasons(),
    emitPodEvent: (pod, message) => emitPodEvent(pod, 'ErrorAttachingPod', message),
    onGarbage: (interfaces) => log.info({ interfaces }, 'GC removed interfaces without an attachment'),
    foreign,
    multiNetwork: options.multiNetwork.mode,
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
    pluginMs: PLUGIN_MS,
    onRejected: (reason) => log.warn({ reason }, 'CNI caller rejected'),
    onFailed: (failure) => {
      logCallFailure(log, failure);
      metrics.cniFailure(failure);
    },
  });
  resources.defer(() => cni.close());
  return handler;
};

/** A node starts some hundred pods at once when it boots. */
const MAX_CNI_CALLS = 1_000;
const CNI_REQUEST_MS = 10_000;
/** A runtime gives up after two minutes or more, and a pod may have several. */
const PLUGIN_MS = 30_000;
