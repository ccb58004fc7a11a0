/**
 * A Pod for its two readers: for whom it has a port here, and for network policies, which look at every pod of the cluster. A part that is
 * as it was stays the same object, so that its readers do not hear of the other one's changes (`partOf`).
 */
import { hash } from 'node:crypto';
import { parsePodNetworks } from '../../api/annotations/pod-networks.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { machineIdentity } from '../../api/virtual-machine.ts';
import { keyOf } from '../../kube/object-key.ts';
import type { KubeObject } from '../../kube/types.ts';
import { CompactPod, NO_ADDRESSES, type PeerAddresses, type PodDigest, samePolicyPod } from './compact-pod.ts';
import { type PodProjection, projectPod, samePod } from './pod-projection.ts';
import { peerAddresses, projectPolicyPod, selectedAddresses } from './policy-pod.ts';

export interface PodParts {
  /** Absent where no fragment is about the pod. */
  readonly pod: PodProjection | undefined;
  /**
   * With a digest of the annotations with its addresses and with what it selects, and of the labels with its machine, which are not kept: a
   * cluster has many pods.
   */
  readonly policyPod: CompactPod;
}

/** @param before as the same pod was projected before: a heartbeat of its status parses no annotation */
export const projectPodParts = (object: KubeObject, localNode: string, before?: PodParts): PodParts => {
  const annotation = object.metadata.annotations?.[POD_ANNOTATIONS.networks];
  const selection = object.metadata.annotations?.[POD_ANNOTATIONS.selection];
  const machine = machineIdentity(object.metadata.labels);
  const digest = annotation === undefined ? undefined : digestOf(annotation, selection, machine);
  const same = before?.policyPod.hasDigest(digest) === true ? before : undefined;
  const kind = projectPolicyPod(object, localNode);
  // Of other nodes, the annotation and the label alone say whether a fragment is about a pod.
  const isNone = same !== undefined && same.pod === undefined && kind.node !== localNode;
  const key = keyOf(object);
  const networks = annotation === undefined ? undefined : once(() => parsePodNetworks(annotation, key));
  const pod = isNone ? undefined : projectPod(object, localNode, before?.pod, networks);
  const addresses = (): PeerAddresses =>
    same !== undefined && same.policyPod.node === kind.node
      ? same.policyPod.addresses
      : selectedAddresses(peerAddresses(pod?.fact.networks ?? networks, key), key, selection);
  const isAddressed = kind.node !== undefined && kind.isHost !== true;
  const after = new CompactPod(kind, kind.node, isAddressed ? addresses() : NO_ADDRESSES, digest);
  const isAsBefore = same !== undefined && samePolicyPod(same.policyPod, after);
  const policyPod = isAsBefore ? same.policyPod : after;
  return pod === undefined ? policyPod : { pod: kept(before?.pod, pod, samePod), policyPod };
};

/** What readers are told of. */
export const samePodParts = (a: PodParts, b: PodParts): boolean => a.pod === b.pod && a.policyPod === b.policyPod;

/** For two readers. What throws is tried by each of them. */
const once = <T>(read: () => T): (() => T) => {
  let value: T | undefined;
  return () => {
    value ??= read();
    return value;
  };
};

const kept = <T>(before: T | undefined, after: T, equal: (a: T, b: T) => boolean): T =>
  before !== undefined && equal(before, after) ? before : after;

/** Numbers are smaller than the text, and than a longer digest: whoever makes two texts collide has to be allowed to write them, both on one pod. */
const digestOf = (networks: string, ...others: readonly (string | undefined)[]): PodDigest => {
  const parts = others.map((other) => (other === undefined ? '\u0001' : `\u0000${other}`));
  // A text takes half of the time of a buffer.
  const text = hash('sha256', `${networks}${parts.join('')}`, 'hex');
  return { high: Number.parseInt(text.slice(0, 8), 16) | 0, low: Number.parseInt(text.slice(8, 16), 16) | 0 };
};
