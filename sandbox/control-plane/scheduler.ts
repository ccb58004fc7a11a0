/** A scheduler for small clusters: gives pods without a node one. */
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { createWorkQueue } from '../../kube/queue/work-queue.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { NODES, PODS } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { type PendingPod, readNode, readPendingPod } from './objects.ts';
import { placePod } from './placement.ts';

export interface SchedulerOptions {
  readonly client: KubeClient;
  readonly onError: (error: unknown) => void;
}

/** Runs until `signal` aborts. A pod that no node fits is looked at again whenever a node changes. */
export const runScheduler = async ({ client, onError }: SchedulerOptions, signal: AbortSignal): Promise<void> => {
  const nodes = createReflector({ client, resource: NODES, project: readNode });
  const pods = createReflector({ client, resource: PODS, project: readPendingPod });
  let turn = 0;
  const queue = createWorkQueue({
    concurrency: 4,
    handle: async (key) => {
      const pod = pods.get(key);
      const node = pod === undefined ? undefined : placePod(pod, [...nodes.values()], turn);
      if (pod === undefined || node === undefined) return;
      turn++;
      await bind(client, pod, node, signal);
    },
    observe: (observation) => observation.kind === 'failed' && !signal.aborted && onError(observation.error),
  });
  pods.subscribe(({ key, after }) => after !== undefined && queue.add(key));
  nodes.subscribe(() => {
    for (const key of pods.keys()) queue.add(key);
  });
  await Promise.all([nodes.run(signal), pods.run(signal), queue.run(signal)]);
};

/** One that was bound or deleted meanwhile is done as well. */
const bind = async (client: KubeClient, pod: PendingPod, node: string, signal: AbortSignal): Promise<void> => {
  const body = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: pod.name },
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  };
  const path = `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}/binding`;
  try {
    await client.request({ method: 'POST', path, body }, signal);
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
};
