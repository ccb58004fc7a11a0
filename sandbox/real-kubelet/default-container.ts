/**
 * Which container a command runs in without a name: containerd does not know the order in a pod's specification once one of
 * them was started again.
 */
import { z } from 'zod';
import { PODS } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { PodTarget } from '../kubelet/exec-info.ts';

/** As kubectl has it (https://kubernetes.io/docs/reference/labels-annotations-taints/). */
const ANNOTATION = 'kubectl.kubernetes.io/default-container';

/** People use the sandbox to kill the API server, too. */
const PATIENCE_MS = 2_000;

const schema = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()).optional() }),
  spec: z.object({ containers: z.array(z.object({ name: z.string() })).min(1) }),
});

/** Undefined: the API server does not answer, or has no such pod. */
export const defaultContainer = async (
  client: Pick<KubeClient, 'get'>,
  { namespace, pod }: Pick<PodTarget, 'namespace' | 'pod'>,
): Promise<string | undefined> => {
  try {
    const found = await client.get(PODS, { namespace, name: pod }, AbortSignal.timeout(PATIENCE_MS));
    const { metadata, spec } = schema.parse(found);
    return metadata.annotations?.[ANNOTATION] ?? spec.containers[0]?.name;
  } catch {
    return undefined;
  }
};
