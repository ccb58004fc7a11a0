/** Writes to pods what they got of layer-2 networks. */
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { isNotFound, isReplaced } from '../../kube/errors.ts';
import { PODS } from '../../kube/resources.ts';
import type { Writer } from '../../kube/writer/types.ts';
import { ignoredByNetworks } from '../allocation/ignored-by-networks.ts';
import type { PodPlan } from '../allocation/plan-pod.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { AddressWaiters } from './address-waiters.ts';
import { settleClaim } from './claim-status.ts';
import type { ControllerContext, Reconcile } from './types.ts';
import type { WaitingCause } from './waiting-pods.ts';

export const podReconciler =
  (context: ControllerContext, waiters: AddressWaiters): Reconcile =>
  async (key, signal) => {
    const { caches, writer, state, problems, waiting } = context;
    const pod = caches.pods.get(key);
    if (pod === undefined) return;
    const labels = caches.namespaces.get(pod.namespace)?.labels;
    const plan = state.planPod(pod, labels);
    const regarding = { apiVersion: 'v1', kind: 'Pod', name: pod.name, namespace: pod.namespace, uid: pod.uid };
    problems.report(regarding, 'ErrorAllocatingPod', plan.problems);
    problems.report(regarding, 'RequestIgnored', ignoredByNetworks(pod, labels, state.registry));
    waiters.set(key, plan.waitsFor);
    const isSettled = await areSettled(context, plan, signal);
    // It may be gone meanwhile, or have completed.
    const now = caches.pods.get(key);
    if (now?.uid === pod.uid && now.isActive) waiting.set(key, causeOf(plan, isSettled));
    if (!isSettled) return;
    if (Object.keys(plan.entries).length > 0) await writeEntries(writer, pod, plan.entries, signal);
  };

const causeOf = ({ waitsFor, problems }: PodPlan, isSettled: boolean): WaitingCause | undefined => {
  if (waitsFor.length > 0) return 'no_free_address';
  if (problems.length > 0) return 'refused';
  return isSettled ? undefined : 'claim';
};

/**
 * What claims have is in their status before a pod has it: a manager that restarts would give it to another one
 * otherwise. A claim that is gone meanwhile is an event, which asks for the pod again.
 */
const areSettled = async (context: ControllerContext, plan: PodPlan, signal: AbortSignal): Promise<boolean> => {
  const isSettled = await Promise.all(plan.claims.map((claim) => settleClaim(context, claim, signal)));
  return Object.keys(plan.entries).length === 0 || isSettled.every(Boolean);
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
