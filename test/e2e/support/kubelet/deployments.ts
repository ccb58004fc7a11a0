/** A Deployment whose pods are probed in every way that there is, on every node one. */
import type { ManifestObject } from '../../../../sandbox/index.ts';
import { GRPC_SERVER } from './grpc-server.ts';

/** A pod of it is not ready while this file is there. */
export const UNREADY_FILE = '/tmp/unready';
/** Where it answers probes over HTTP, and over gRPC and TCP. */
export const PROBED_PORTS = [8080, 9090] as const;

export const deployment = (inNamespace: string, name: string, replicas: number): ManifestObject => {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: inNamespace, name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 1,
          topologySpreadConstraints: [
            {
              ...{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' },
              labelSelector: { matchLabels: labels },
            },
          ],
          containers: [serving(), answeringHealthChecks()],
        },
      },
    },
  };
};

const EVERY = { periodSeconds: 1, failureThreshold: 3 };

const serving = () => ({
  ...{ name: 'main', image: 'toolbox' },
  startupProbe: { tcpSocket: { port: 8082 }, ...EVERY, failureThreshold: 30 },
  readinessProbe: { exec: { command: ['test', '!', '-e', UNREADY_FILE] }, ...EVERY, failureThreshold: 1 },
  livenessProbe: { httpGet: { path: '/healthz', port: PROBED_PORTS[0] }, ...EVERY },
});

const answeringHealthChecks = () => ({
  ...{ name: 'grpc', image: 'toolbox', command: ['python3', '-c', GRPC_SERVER] },
  startupProbe: { tcpSocket: { port: PROBED_PORTS[1] }, ...EVERY, failureThreshold: 30 },
  readinessProbe: { grpc: { port: PROBED_PORTS[1], service: 'any' }, ...EVERY },
  livenessProbe: { tcpSocket: { port: PROBED_PORTS[1] }, ...EVERY },
});
