/** `/metrics`, `/healthz` and `/readyz` of the agent, where it is asked to serve them. */
import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import { createDelegatedAccess } from '../../kube/access/delegated-access.ts';
import { startHttpServer } from '../../program/http-server.ts';
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
  if (options.metricsAddress === undefined) return;
  const server = await startHttpServer({
    address: options.metricsAddress,
    contentType: metrics.contentType,
    metrics: () => metrics.text(),
    notAlive: () => probes.alive(),
    notReady: () => probes.ready(),
    access: createDelegatedAccess({ client, clock: systemClock }),
  });
  resources.defer(() => server.close());
  log.info({ port: server.port }, 'serving metrics');
};
