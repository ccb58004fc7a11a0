/**
 * A Pod for its two readers: for whom it has a port here, and for network policies, which look at every pod of the cluster. A part that is
 * as it was stays the same object, so that its readers do not hear of the other one's changes (`partOf`).
 */
import { createHash } from 'node:crypto';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { machineIdentity } from '../../api/virtual-machine.ts';
import { jsonEqual } from '../../kube/json-equal.ts';
import { keyOf } from '../../kube/object-key.ts';
import type { KubeObject } from '../../kube/types.ts';
import { type PodProjection, projectPod, samePod } from './pod-projection.ts';
import type { PolicyPod } from './policies/types.ts';
import { NO_ADDRESSES, type PeerAddresses, peerAddresses, projectPolicyPod, selectedAddresses } from './policy-pod.ts';

export interface PodParts {
  /** Absent where no fragment is about the pod. */
  readonly pod: PodProjection | undefined;
  readonly policyPod: PolicyPod;
  /** Of the annotations with its addresses and with what it selects, and of the labels with its machine, which are not kept: a cluster has many pods. */
  readonly digest: number | undefined;
}

/** @param before as the same pod was projected before: a heartbeat of its status parses no annotation */
export const projectPodParts = (object: KubeObject, localNode: string, before?: PodParts): PodParts => {
  const annotation = object.metadata.annotations?.[POD_ANNOTATIONS.networks];
  const selection = object.metadata.annotations?.[POD_ANNOTATIONS.selection];
  const machine = machineIdentity(object.metadata.labels);
  const digest = annotation === undefined ? undefined : digestOf(annotation, selection, machine);
  const same = before?.digest === digest ? before : undefined;
  const policyPod = projectPolicyPod(object, localNode);
  // Of other nodes, the annotation and the label alone say whether a fragment is about a pod.
  const isNone = same !== undefined && same.pod === undefined && !policyPod.isLocal;
  const pod = isNone ? undefined : projectPod(object, localNode, before?.pod);
  const addresses = (): PeerAddresses =>
    same !== undefined && same.policyPod.node === policyPod.node
      ? same.policyPod.addresses
      : selectedAddresses(peerAddresses(pod?.fact.networks ?? annotation, keyOf(object)), keyOf(object), selection);
  const isAddressed = policyPod.node !== undefined && policyPod.isHost !== true;
  return {
    pod: kept(before?.pod, pod, samePod),
    policyPod: keptAs(before?.policyPod, withAddresses(policyPod, isAddressed ? addresses() : NO_ADDRESSES)),
    digest,
  };
};

/** Field by field: V8 gives what is copied and extended a second object for what is added. */
const withAddresses = (
  { namespace, labels, isLocal, node, finished, ports, isHost }: Omit<PolicyPod, 'addresses'>,
  addresses: PeerAddresses,
): PolicyPod =>
  isHost === true
    ? { namespace, labels, isLocal, node, finished, addresses, ports, isHost }
    : { namespace, labels, isLocal, node, finished, addresses, ports };

/** What readers are told of. */
export const samePodParts = (a: PodParts, b: PodParts): boolean => a.pod === b.pod && a.policyPod === b.policyPod;

const kept = <T>(before: T | undefined, after: T | undefined, equal: (a: T, b: T) => boolean): T | undefined =>
  before !== undefined && after !== undefined && equal(before, after) ? before : after;

const keptAs = (before: PolicyPod | undefined, after: PolicyPod): PolicyPod => kept(before, after, jsonEqual) ?? after;

/** A number is smaller than the text, and than a longer digest: whoever makes two texts collide has to be allowed to write them, both on one pod. */
const digestOf = (networks: string, ...others: readonly (string | undefined)[]): number => {
  const hash = createHash('sha256').update(networks);
  for (const other of others) hash.update(other === undefined ? '\u0001' : `\u0000${other}`);
  return hash.digest().readUIntBE(0, 6);
};
