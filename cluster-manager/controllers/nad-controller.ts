/**
 * Sees to it that every NAD has the ids of its network, whoever wrote it, and lets go of NADs that are being deleted and that
 * no pod uses.
 */
import { NAD_API_VERSION, UDN_FINALIZER } from '../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { isNotFound, isReplaced } from '../../kube/errors.ts';
import { primaryTaken } from '../allocation/primary-rivals.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import { removeFinalizer } from './finalizer.ts';
import { changedIdAnnotations, heldIdAnnotations, idAnnotations } from './nad-ids.ts';
import { failureTexts } from './network-allocation.ts';
import type { PodUsers } from './pod-users.ts';
import type { ControllerContext, Reconcile } from './types.ts';

export const nadReconciler = (
  { caches, client, state, writer, problems, enqueue }: ControllerContext,
  users: PodUsers,
): Reconcile => {
  /** By what the mirror said of the NAD. As long as it says nothing else, it has not heard of the write. */
  const written = new WeakMap<NadFacts, string>();
  return async (key, signal) => {
    const nad = caches.nads.get(key);
    if (nad === undefined) return;
    const ref = { namespace: nad.metadata.namespace, name: nad.metadata.name };
    const found = [...(state.nadProblems.get(key) ?? []), ...secondPrimary(nad, { caches, state })];
    const { uid } = nad.metadata;
    const regarding = { apiVersion: NAD_API_VERSION, kind: 'NetworkAttachmentDefinition', ...ref, uid };
    problems.report(regarding, 'InvalidNetwork', found);
    problems.report(regarding, 'NetworkAllocationFailed', withoutSubnet(nad, state));
    const annotations = changedIdAnnotations(nad, desiredIds(nad, state));
    try {
      const changes = JSON.stringify(annotations);
      if (Object.keys(annotations).length > 0 && written.get(nad) !== changes) {
        await writer.merge(NETWORK_ATTACHMENT_DEFINITIONS, ref, { metadata: { uid, annotations } }, {}, signal);
        written.set(nad, changes);
      }
    } catch (error) {
      if (!isNotFound(error) && !isReplaced(error)) throw error;
    }
    if (!isLeaving(nad)) return;
    const pods = users.watch(key, 'nad', () => enqueue.nad(key));
    if (pods.length > 0) return;
    await removeFinalizer(client, NETWORK_ATTACHMENT_DEFINITIONS, ref, nad.metadata.finalizers, UDN_FINALIZER, signal);
  };
};

/** Nodes that its network has no subnet for; a network that renders its NADs reports that itself. */
const withoutSubnet = ({ key }: NadFacts, { registry, nodes }: ControllerContext['state']): string[] => {
  const record = registry.networkOfNad(key);
  if (record === undefined || registry.nad(key)?.isOwn !== false) return [];
  return failureTexts(nodes.failures(record.name));
};

/** What is refused for anything else keeps what it has; with the ids of another's network it would still be in it. */
const desiredIds = (nad: NadFacts, { registry }: ControllerContext['state']): Readonly<Record<string, string>> => {
  const record = registry.networkOfNad(nad.key);
  if (record !== undefined) return idAnnotations(record.name, record.keys);
  return registry.isForeign(nad.key) ? {} : heldIdAnnotations(nad);
};

const isLeaving = ({ metadata }: NadFacts): boolean =>
  metadata.deletionTimestamp != null && metadata.finalizers.includes(UDN_FINALIZER);

/** Only the oldest primary NAD of a namespace counts. */
const secondPrimary = (nad: NadFacts, { caches, state }: Pick<ControllerContext, 'caches' | 'state'>): string[] => {
  const { namespace } = nad.metadata;
  const labels = caches.namespaces.get(namespace)?.labels ?? {};
  const primary = state.registry.primaryOf(namespace, labels);
  if (primary.kind !== 'network' || !primary.ignored.some(({ key }) => key === nad.key)) return [];
  // Without an id its problem is reported already.
  if (state.registry.networkOfNad(nad.key) === undefined) return [];
  return [primaryTaken(namespace, primary.nad.metadata.name)];
};
