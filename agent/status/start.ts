/** What a running agent tells of itself on the node: to udnctl, and whoever is root. */
import { systemClock } from '../../base/clock.ts';
import type { CniHandler } from '../cni/handler.ts';
import { watchLostPorts } from '../cni/lost-ports.ts';
import { startConnectionUsage } from '../connections/start.ts';
import { whenPodPortsGo } from '../databases/port-numbers.ts';
import { startPeerWatch } from '../encryption/start.ts';
import { podKey } from '../model/facts.ts';
import type { LocalNode } from '../node/local-node.ts';
import { type AgentContext, spawnAddonIn } from '../wiring/context.ts';
import type { Edges } from '../wiring/edges.ts';
import { logLevelResource } from './log-level.ts';
import type { Probes } from './probes.ts';
import type { ReportSources } from './report.ts';
import { reportSources, type Parts as SourceParts } from './report-sources.ts';
import { serveStatus } from './server.ts';

interface Parts
  extends Pick<
    SourceParts,
    | 'core'
    | 'ports'
    | 'status'
    | 'plugin'
    | 'keeper'
    | 'nodePorts'
    | 'encryption'
    | 'reconcilers'
    | 'health'
    | 'domains'
  > {
  readonly edges: Edges;
  readonly handler: SourceParts['handler'] & Pick<CniHandler, 'replug'>;
  readonly local: LocalNode;
  readonly probes: Pick<Probes, 'ready'>;
}

/** Resolves when it listens. @param resources ends it with the agent */
export const startStatus = async (
  { options, buildFolder, log, level, signal }: AgentContext,
  { local, probes, ...parts }: Parts,
  resources: AsyncDisposableStack,
): Promise<ReportSources> => {
  const { edges, core } = parts;
  const { cluster, networkRendering, encryption } = options;
  const watched = { edges, core, node: local.name, spawnAddon: spawnAddonIn(buildFolder), log };
  const usage = startConnectionUsage(watched);
  resources.defer(() => usage.stop());
  const lost = watchLostPorts({
    ...{ netlink: edges.netlink, ports: parts.ports, clock: systemClock },
    onPortsGone: (listener) => whenPodPortsGo(edges.databases.openvswitch.replica, listener),
    pods: () => core.registry.values(),
    isBusy: (sandbox) => parts.handler.isBusy(sandbox),
    replug: (lost, ended) => parts.handler.replug(lost, ended),
    signal,
    onReplugged: (pods) => {
      log.warn({ pods: pods.map(({ pod }) => podKey(pod)) }, 'ports of pods were gone: added again');
      edges.metrics.repaired('openvswitch');
      edges.drift.repaired('openvswitch');
    },
    report: (pod, message) => edges.emitPodEvent(pod, 'ErrorAttachingPod', message),
    onError: (error) => log.warn({ err: error }, 'ports of pods cannot be compared with their links'),
  });
  resources.defer(() => lost.stop());
  const peers = startPeerWatch({ ...watched, encryption }, resources);
  const sources = reportSources({ ...parts, usage, peers, lost, node: local.name, cluster, networkRendering });
  const status = await serveStatus(options.statusSocket, sources, {
    beforeReport: () => parts.core.feeder.policies.release(),
    texts: {
      '/metrics': () => edges.metrics.text(),
      '/readyz': () => Promise.resolve(`${probes.ready().join('\n') || 'ok'}\n`),
    },
    settings: { '/v1/log-level': logLevelResource(level, log) },
  });
  resources.defer(() => level.stop());
  resources.defer(() => status.close());
  return sources;
};
