/** What the agent keeps of a Service. */
import { SERVICE_LABELS } from '../../api/names.ts';
import { parseService } from '../../api/service.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { ServiceFact } from '../model/facts.ts';
import type { Problem } from './problem.ts';

/** Undefined for those that nothing is to be done for: headless ones, mere names, and those of another proxy. @throws ApiError */
export const projectService = (object: KubeObject): ServiceFact | undefined => {
  const { metadata, type: _, ...service } = parseService(object);
  if (SERVICE_LABELS.proxyName in metadata.labels || service.clusterIps.length === 0) return undefined;
  const { namespace, name, uid, creationTimestamp } = metadata;
  return { namespace, name, uid, createdAt: creationTimestamp ?? '', ...service };
};

export const badService = (key: string, reason: Error): Problem => ({
  object: `Service/${key}`,
  message: reason.message,
  cause: 'object-unreadable',
});
