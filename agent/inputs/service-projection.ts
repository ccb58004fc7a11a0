/** What the agent keeps of a Service. */
import { ApiError } from '../../api/errors.ts';
import { SERVICE_LABELS } from '../../api/names.ts';
import { parseService, type Service } from '../../api/service.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { ServiceFact } from '../model/facts.ts';
import type { Problem } from './problem.ts';

/** Undefined for those that nothing is to be done for: headless ones, mere names, and those of another proxy. @throws ApiError */
export const projectService = (object: KubeObject): ServiceFact | undefined => {
  const { metadata, type: _, ...service } = parseService(object);
  requireLimit(metadata, service);
  if (SERVICE_LABELS.proxyName in metadata.labels || service.clusterIps.length === 0) return undefined;
  const { namespace, name, uid, creationTimestamp } = metadata;
  return { namespace, name, uid, createdAt: creationTimestamp ?? '', ...service };
};

/** Each is claimed, and programmed on each node: the API server limits neither ports nor addresses. */
export const MAX_EXTERNAL_PORTS = 4096;

const requireLimit = (
  { namespace = '', name }: Service['metadata'],
  { ports, externalIps, loadBalancerIps }: Pick<Service, 'ports' | 'externalIps' | 'loadBalancerIps'>,
): void => {
  const addresses = externalIps.length + loadBalancerIps.length;
  if (ports.length * addresses <= MAX_EXTERNAL_PORTS) return;
  const message = `${ports.length} ports at ${addresses} external addresses: their product may be ${MAX_EXTERNAL_PORTS} at most`;
  const field = externalIps.length > loadBalancerIps.length ? 'spec.externalIPs' : 'status.loadBalancer.ingress';
  throw new ApiError('ERR_API_UNSUPPORTED', message, { object: `Service ${namespace}/${name}`, field });
};

export const badService = (key: string, reason: Error): Problem => ({
  object: `Service/${key}`,
  message: reason.message,
  cause: 'object-unreadable',
});
