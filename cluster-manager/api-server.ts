/** Where the API server is, on a node where a ClusterIP may lead nowhere. */
import type { Logger } from 'pino';
import { awaitPublishedServer, type FindServer, isClusterIp, kubeletServer } from '../kube/config/direct-server.ts';
import type { CleanupOptions, Options } from './options.ts';

/** The kubelet restarts a program whose probes nobody answers after a minute: the reason is logged before. */
const PATIENCE_MS = 40_000;

interface Ranges {
  readonly cluster: Pick<Options['cluster'], 'serviceSubnets'>;
}

/** @returns what takes an address that is set, the one that the agent of this node publishes, or a ClusterIP that answers */
export const findApiServer =
  ({ apiServerFile, cluster }: Pick<Options, 'apiServerFile'> & Ranges, signal: AbortSignal): FindServer =>
  async (service) => {
    if (apiServerFile === undefined || !isClusterIp(service.host, cluster.serviceSubnets)) return undefined;
    return await awaitPublishedServer(apiServerFile, service, { signal, patienceMs: PATIENCE_MS });
  };

/** For `cleanup`, when nobody publishes an address any more. */
export const findByKubelet = (
  { kubeletKubeconfig: file, cluster: { serviceSubnets } }: Pick<CleanupOptions, 'kubeletKubeconfig'> & Ranges,
  log: Pick<Logger, 'warn'>,
): FindServer =>
  kubeletServer({
    ...{ file, serviceSubnets },
    onUnusable: (error) => log.warn({ err: error }, "the kubelet's kubeconfig names no usable API server"),
  });
