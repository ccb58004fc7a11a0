/** The pods of a namespace, and which of its policies select one. */
import { DenseMap } from '../../../base/dense-map.ts';
import type { PolicyDirection } from '../../model/policies/facts.ts';
import type { Placement } from './placement.ts';
import { Postings } from './postings.ts';
import type { NamespaceState, PodState, TargetGroup, TargetState } from './state.ts';
import type { PolicyPod } from './types.ts';

/** @param after undefined: it is gone @param known as it was held before */
export const putPod = (
  state: NamespaceState,
  key: string,
  after: PolicyPod | undefined,
  known: PodState | undefined,
): PodState => {
  if (after === undefined) state.pods.delete(key);
  if (known !== undefined) {
    if (after === undefined) return known;
    // Another one has its name now: what kept this node from deciding is not about that.
    if (!after.isLocal) known.isUndecided = undefined;
    known.pod = after;
    return known;
  }
  const pod: PodState = { key, pod: after as PolicyPod, peerOf: undefined, target: undefined };
  state.pods.set(key, pod);
  return pod;
};

export const keyOfPod = ({ key }: PodState): string => key;

export const newNamespace = (name: string, placement: Placement): NamespaceState => ({
  ...{ name, placement, pods: new DenseMap(keyOfPod), policies: new Map(), groups: new Map(), filed: new Postings() },
});

export const newGroup = (selector: TargetGroup['selector']): TargetGroup => ({
  ...{ selector, policies: new Set(), named: new Set(), members: new Set(), rules: new Map() },
  isolating: { Ingress: 0, Egress: 0 },
});

/** Those that select a pod of this node, while it runs. */
export const groupsOf = ({ filed }: NamespaceState, pod: PolicyPod | undefined): TargetGroup[] =>
  pod?.isLocal === true && !pod.finished ? filed.matching(pod.labels) : [];

export const isolatedIn = ({ groups }: TargetState, isClosed: boolean): readonly PolicyDirection[] =>
  DIRECTIONS.filter((direction) => isClosed || groups.values().some(({ isolating }) => isolating[direction] > 0));

const DIRECTIONS: readonly PolicyDirection[] = ['Ingress', 'Egress'];
