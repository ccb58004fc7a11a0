/** The answer to load balancers about a Service on this node, as kube-proxy gives it (`ServiceHealthServer`). */
import type { Family } from '../../net/ip.ts';
import type { HealthCheck } from '../model/node-ports.ts';

export interface HealthAnswer {
  readonly status: 200 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * To every method and path.
 * @param family of the connection: each has its own endpoints. Of one that the Service does not have, as of the other
 * @param isHealthy the desired state of Services comes to be on this node
 */
export const healthAnswer = (
  { service, localEndpoints: counts }: Pick<HealthCheck, 'service' | 'localEndpoints'>,
  family: Family,
  isHealthy: boolean,
): HealthAnswer => {
  const [namespace = '', name = ''] = service.split('/');
  const localEndpoints = counts[family] ?? counts[family === 4 ? 6 : 4] ?? 0;
  const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: isHealthy };
  return {
    status: localEndpoints > 0 && isHealthy ? 200 : 503,
    headers: {
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'x-load-balancing-endpoint-weight': String(localEndpoints),
    },
    body: JSON.stringify(body, undefined, '\t'),
  };
};
