/** Where the API server is, for an agent whose environment has a ClusterIP that may lead nowhere yet. */
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { type FindServer, kubeletServer, publishServer } from '../../kube/config/direct-server.ts';
import type { AgentOptions } from '../options/options.ts';

interface Site extends Pick<AgentOptions, 'kubeletKubeconfig' | 'statusSocket'> {
  readonly cluster: Pick<AgentOptions['cluster'], 'serviceSubnets'>;
}

/**
 * Publishes the address on the node, for a cluster manager beside: it may not read the kubelet's file.
 * @returns what finds the address in the kubelet's kubeconfig. One that can't be used is logged, and the ClusterIP tried.
 */
export const findApiServer = (
  { kubeletKubeconfig: file, statusSocket, cluster: { serviceSubnets } }: Site,
  log: Pick<Logger, 'info' | 'warn'>,
): FindServer => {
  const find = kubeletServer({
    ...{ file, serviceSubnets },
    onUnusable: (error) => log.warn({ err: error }, "the kubelet's kubeconfig names no usable API server"),
  });
  return async (service) => {
    const server = await find(service);
    await publishServer(serverFile(statusSocket), server).catch((error: unknown) =>
      log.warn({ err: error }, 'the address of the API server was not published on the node'),
    );
    if (server !== undefined) log.info({ server }, "uses the API server of the kubelet's kubeconfig");
    return server;
  };
};

/** In a folder of its own, which is all that a cluster manager is given of the node. */
export const serverFile = (statusSocket: string): string => join(dirname(statusSocket), 'api-server', 'url');
