/** `/metrics`, `/healthz` and `/readyz` of the agent, where it is asked to serve them. */
import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import { createDelegatedAccess } from '../../kube/access/delegated-access.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { commitOfBuild } from '../../program/build-info.ts';
import { startMetricsListeners } from '../../program/metrics-listeners.ts';
import type { AgentOptions } from '../options/options.ts';
import type { Probes } from '../status/probes.ts';
import type { Edges } from '../wiring/edges.ts';

export const serveMetrics = async (
  { options, log }: { readonly options: AgentOptions; readonly log: Logger },
  { metrics, netlink, client }: Edges,
  probes: Probes,
  resources: AsyncDisposableStack,
): Promise<void> => {
  metrics.gauge('udn_agent_netlink_oldest_call_seconds', () => (netlink.oldestCallAge() ?? 0) / 1000);
  metrics.gauge('udn_agent_not_ready_reasons', () => probes.ready().length);
  metrics.gauges('udn_agent_build_info', () => [[{ version: packageJson.version, commit: commitOfBuild() }, 1]]);
  const answers = {
    contentType: metrics.contentType,
    metrics: () => metrics.text(),
    notAlive: () => probes.alive(),
    notReady: () => probes.ready(),
    access: createDelegatedAccess({ client, clock: systemClock }),
  };
  const onStale = (error: unknown): void => log.warn({ err: error }, 'the certificate of the metrics was not replaced');
  const listeners = await startMetricsListeners(options.metrics, answers, onStale);
  resources.defer(() => listeners.close());
  const { port, tlsPort: metricsTlsPort } = listeners;
  if (port !== undefined || metricsTlsPort !== undefined) log.info({ port, metricsTlsPort }, 'serving metrics');
};
