/** What holds a deletion. */
import { z } from 'zod';
import { UDN_FINALIZER } from '../../api/names.ts';
import { networkStatusSchema } from '../../api/network-status.ts';
import type { NadFacts } from '../../cluster-manager/facts/nad-facts.ts';
import type { NetworkFacts } from '../../cluster-manager/facts/network-facts.ts';
import type { PodState } from '../cluster/pod-state.ts';
import type { Scene } from './allocations.ts';
import { nameOf } from './desired.ts';
import { blocked, type Finding, named, ok, unknown, unreadOf, unreadText } from './finding.ts';
import { waitsForManager } from './manager.ts';

export const deletionFindings = (facts: NetworkFacts, scene: Scene): readonly Finding[] => {
  const { finalizers, uid = '', deletionTimestamp } = facts.metadata;
  const nads = scene.nadsOwnedBy(uid);
  const findings = [
    ok('deletion', `requested at ${deletionTimestamp}`),
    ...nads.flatMap((nad) => nadFindings(nad, scene)),
    ...hiddenFindings(facts, scene),
    ...finalizerFindings(nameOf(facts), finalizers),
  ];
  const isHeld = findings.some(({ state }) => state === 'blocked');
  if (isHeld || !finalizers.includes(UDN_FINALIZER)) return findings;
  return [
    ...findings,
    waitsForManager(
      scene,
      'finalizer',
      'being-deleted',
      `nothing uses ${nameOf(facts)} any more, but its finalizer is still set`,
    ),
  ];
};

/** A NAD of a network that goes, or one that was written by hand and is being deleted. */
export const nadFindings = (nad: NadFacts, scene: Scene): readonly Finding[] => {
  const users = scene.podsUsing(nad.key);
  const garbled = users.filter((pod) => pod.annotatedKeys === undefined);
  const real = users.filter((pod) => !garbled.includes(pod));
  return [
    ...(users.length === 0 ? [ok(`NAD ${nad.key}`, 'no pod uses it')] : []),
    ...garbled.map((pod) => garbledFinding(nad, pod)),
    ...(real.length === 0 ? [] : [usersFinding(nad, real)]),
    ...(nad.metadata.deletionTimestamp == null ? [] : finalizerFindings(`NAD ${nad.key}`, nad.metadata.finalizers)),
  ];
};

const garbledFinding = ({ key }: NadFacts, pod: PodState): Finding =>
  blocked(
    `NAD ${key}`,
    'annotation-unreadable',
    `the annotation k8s.ovn.org/pod-networks of Pod ${pod.key} cannot be read, so the pod may use NAD ${key}`,
    `kubectl -n ${pod.namespace} delete pod ${pod.name}`,
  );

const usersFinding = ({ key }: NadFacts, pods: readonly PodState[]): Finding => {
  const names = pods.map((pod) => (pod.deletionTimestamp === undefined ? pod.key : `${pod.key} (being deleted)`));
  const [going] = pods.filter(({ deletionTimestamp }) => deletionTimestamp !== undefined);
  const next =
    going?.key !== undefined && pods.every(({ deletionTimestamp }) => deletionTimestamp !== undefined)
      ? `udnctl why ${going.key} explains why that pod still exists`
      : `delete them or their controllers, or wait for them to end: kubectl -n ${pods[0]?.namespace} delete pod ${pods[0]?.name}`;
  return blocked(`NAD ${key}`, 'pods-use-it', `pods use it: ${named(names)}`, next);
};

/** What somebody else has to take away. */
export const finalizerFindings = (object: string, finalizers: readonly string[]): readonly Finding[] =>
  finalizers
    .filter((finalizer) => finalizer !== UDN_FINALIZER && finalizer !== 'foregroundDeletion')
    .map((finalizer) =>
      blocked(
        'finalizers',
        'finalizer',
        `the finalizer ${finalizer} of ${object} is foreign: the controller that set it must remove it`,
        `find the controller of ${finalizer}; if it no longer exists, remove the finalizer with kubectl edit`,
      ),
    );

/** Where its NADs or pods may not be read, its status still says how many hold it. */
const hiddenFindings = ({ kind, status }: NetworkFacts, scene: Scene): readonly Finding[] => {
  const hidden = unreadOf(scene, 'pods') ?? unreadOf(scene, 'network-attachment-definitions');
  const isPart = scene.namespace !== undefined && kind === 'ClusterUserDefinedNetwork';
  const { blockedBy } = blockedBySchema.catch({}).parse(status);
  if (blockedBy !== undefined && (hidden !== undefined || isPart)) {
    const found = `pods use it: ${named(blockedBy.names ?? [])}${blockedBy.pods > (blockedBy.names ?? []).length ? ` (${blockedBy.pods} in all)` : ''}`;
    return [blocked('status.blockedBy', 'pods-use-it', found, 'delete them, or wait for them to end')];
  }
  return hidden === undefined ? [] : [unknown('pods', unreadText(hidden))];
};

const blockedBySchema = z.object({ blockedBy: networkStatusSchema.shape.blockedBy });
