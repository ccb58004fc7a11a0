/** Writes to pods what they got of layer-2 networks. */
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { isNotFound, isReplaced } from '../../kube/errors.ts';
import { PODS } from '../../kube/resources.ts';
import type { Writer } from '../../kube/writer/types.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { AddressWaiters } from './address-waiters.ts';
import type { ControllerContext, Reconcile } from './types.ts';

export const podReconciler =
  ({ caches, writer, state, problems }: ControllerContext, waiters: AddressWaiters): Reconcile =>
  async (key, signal) => {
    const pod = caches.pods.get(key);
    if (pod === undefined) return;
    const plan = state.planPod(pod, caches.namespaces.get(pod.namespace)?.labels);
    const regarding = { apiVersion: 'v1', kind: 'Pod', name: pod.name, namespace: pod.namespace, uid: pod.uid };
    problems.report(regarding, 'ErrorAllocatingPod', plan.problems);
    waiters.set(key, plan.waitsFor);
    if (Object.keys(plan.entries).length > 0) await writeEntries(writer, pod, plan.entries, signal);
  };

/**
 * Only to the very pod that the entries are for: another one of its name may have taken its place (a StatefulSet's pod
 * keeps its name), and gets its own.
 */
const writeEntries = async (
  writer: Pick<Writer, 'patchJsonMap'>,
  pod: PodFacts,
  changes: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> => {
  const { namespace, name, uid, resourceVersion } = pod;
  const known = { value: pod.annotations.networks, resourceVersion };
  try {
    await writer.patchJsonMap(PODS, { namespace, name }, POD_ANNOTATIONS.networks, changes, { known, uid }, signal);
  } catch (error) {
    if (!isNotFound(error) && !isReplaced(error)) throw error;
  }
};
