/** Writes to pods what they got of layer-2 networks. */
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { isConflict, isInvalid, isNotFound } from '../../kube/errors.ts';
import { PODS } from '../../kube/resources.ts';
import type { KubeClient, Patch } from '../../kube/types.ts';
import { planJsonMapChange } from '../../kube/writer/json-map-annotation.ts';
import type { KnownAnnotation } from '../../kube/writer/types.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { AddressWaiters } from './address-waiters.ts';
import { type ControllerContext, FIELD_MANAGER, type Reconcile } from './types.ts';

export const podReconciler =
  ({ caches, client, state, problems }: ControllerContext, waiters: AddressWaiters): Reconcile =>
  async (key, signal) => {
    const pod = caches.pods.get(key);
    if (pod === undefined) return;
    const plan = state.planPod(pod, caches.namespaces.get(pod.namespace)?.labels);
    const regarding = { apiVersion: 'v1', kind: 'Pod', name: pod.name, namespace: pod.namespace, uid: pod.uid };
    problems.report(regarding, 'ErrorAllocatingPod', plan.problems);
    waiters.set(key, plan.waitsFor);
    if (Object.keys(plan.entries).length > 0) await writeEntries(client, pod, plan.entries, signal);
  };

/** Others write other keys of the annotation at the same time: who comes second looks again. */
const TRIES = 8;

/**
 * Only to the very pod that the entries are for: another one of its name may have taken its place (a StatefulSet's pod
 * keeps its name), and gets its own.
 */
const writeEntries = async (
  client: Pick<KubeClient, 'get' | 'patch'>,
  pod: PodFacts,
  changes: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> => {
  const ref = { namespace: pod.namespace, name: pod.name };
  const annotation = POD_ANNOTATIONS.networks;
  let known: KnownAnnotation = { value: pod.annotations.networks, resourceVersion: pod.resourceVersion };
  for (let tries = 1; ; tries += 1) {
    const patch = planJsonMapChange(known, { annotation, changes, ref });
    if (patch === undefined) return;
    try {
      await client.patch(PODS, ref, onlyFor(pod.uid, patch), { fieldManager: FIELD_MANAGER }, signal);
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (tries === TRIES || !(isConflict(error) || isInvalid(error))) throw error;
    }
    const fresh = await current(client, pod, signal);
    if (fresh === undefined) return;
    known = fresh;
  }
};

const onlyFor = (uid: string, patch: Patch): Patch => {
  if (patch.type !== 'json') return patch;
  return { type: 'json', operations: [{ op: 'test', path: '/metadata/uid', value: uid }, ...patch.operations] };
};

/** Undefined when the pod is gone. */
const current = async (
  client: Pick<KubeClient, 'get'>,
  pod: PodFacts,
  signal: AbortSignal,
): Promise<KnownAnnotation | undefined> => {
  try {
    const { metadata } = await client.get(PODS, { namespace: pod.namespace, name: pod.name }, signal);
    if (metadata.uid !== pod.uid) return undefined;
    return { value: metadata.annotations?.[POD_ANNOTATIONS.networks], resourceVersion: metadata.resourceVersion };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};
