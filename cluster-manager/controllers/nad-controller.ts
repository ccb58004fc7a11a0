/**
 * Sees to it that every NAD has the ids of its network, whoever wrote it, and lets go of NADs that are being deleted and that
 * no pod uses.
 */
import { NAD_API_VERSION, UDN_FINALIZER } from '../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { isNotFound, isReplaced } from '../../kube/errors.ts';
import { primaryTaken } from '../allocation/primary-rivals.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { Touched } from '../state/cluster-state.ts';
import { removeFinalizer } from './finalizer.ts';
import { followedEdit, heldEdit, withConf } from './nad-edits.ts';
import { changedIdAnnotations, heldIdAnnotations, idAnnotations } from './nad-ids.ts';
import { failureTexts } from './network-allocation.ts';
import type { PodUsers } from './pod-users.ts';
import type { ControllerContext, Reconcile } from './types.ts';

export const nadReconciler = (
  { caches, client, state, writer, problems, enqueue }: ControllerContext,
  users: PodUsers,
  touch: (touched: Touched) => void,
): Reconcile => {
  /** By what the mirror said of the NAD. As long as it says nothing else, it has not heard of the write. */
  const written = new WeakMap<NadFacts, string>();
  /** Edits that were held when the cluster manager started are looked at once whoever is there. */
  const seen = new WeakSet<NadFacts>();
  /** An edit that is not followed yet is, as soon as no pod is in its way. */
  const reviewEdit = (nad: NadFacts, network: string): void => {
    const keys = new Set([nad.key, ...caches.nads.keysByIndex('adopted', network)]);
    const pods = [...keys].flatMap((one) => users.watch(one, `edit of ${nad.key}`, () => enqueue.nad(nad.key)));
    if (pods.length === 0 || !seen.has(nad)) touch(state.upsertNad(nad));
    seen.add(nad);
  };
  /** @param desired annotations */
  const report = (nad: NadFacts, desired: Readonly<Record<string, string>>): void => {
    const { namespace, name, uid } = nad.metadata;
    const regarding = { apiVersion: NAD_API_VERSION, kind: 'NetworkAttachmentDefinition', namespace, name, uid };
    const found = [...(state.nadProblems.get(nad.key) ?? []), ...secondPrimary(nad, { caches, state })];
    problems.report(regarding, 'InvalidNetwork', found);
    problems.report(regarding, 'NetworkAllocationFailed', withoutSubnet(nad, state));
    problems.report(regarding, 'NetworkEditIgnored', heldEdit(nad, state)?.messages ?? []);
    const followed = followedEdit(nad, desired);
    if (followed.length > 0 && users.using(nad.key).length > 0) problems.report(regarding, 'NetworkEdited', followed);
  };
  return async (key, signal) => {
    const nad = caches.nads.get(key);
    if (nad === undefined) return;
    const held = heldEdit(nad, state);
    if (held !== undefined) reviewEdit(nad, held.network);
    const ref = { namespace: nad.metadata.namespace, name: nad.metadata.name };
    const { uid } = nad.metadata;
    const desired = withConf(desiredIds(nad, state), nad, state);
    report(nad, desired);
    const annotations = changedIdAnnotations(nad, desired);
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
