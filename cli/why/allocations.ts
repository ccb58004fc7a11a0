/**
 * What the cluster manager would answer to these objects: this calls its own code, so that exhaustion and refused requests
 * are reported in its words and not guessed. Made once per snapshot, when something is missing.
 */
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { ClusterState, type Problem } from '../../cluster-manager/state/cluster-state.ts';
import type { PodState } from '../cluster/pod-state.ts';
import type { Snapshot } from '../cluster/snapshot.ts';

/** A snapshot, and who can say what would be given out on it. */
export interface Scene extends Snapshot {
  readonly allocations: () => Allocations;
}

export const sceneOf = (snapshot: Snapshot): Scene => {
  let allocations: Allocations | undefined;
  return {
    ...snapshot,
    allocations: () => {
      allocations ??= allocationsOf(snapshot);
      return allocations;
    },
  };
};

export interface Allocations {
  /** Why a NAD has no id. */
  nadProblems(key: string): readonly string[];
  /** Node → why it has no subnet of the network. */
  nodeFailures(network: string): ReadonlyMap<string, string>;
  /** What a pod's layer-2 networks lack, and whether it is that nothing is left. */
  podProblems(pod: PodState): { readonly messages: readonly string[]; readonly isExhausted: boolean };
  /** Why the next pod of a layer-2 network or localnet gets no address; undefined: it gets one. */
  shortageOf(network: string): string | undefined;
  /** What a pod's annotation has that belongs to another owner, or to no pod. */
  podConflicts(pod: PodState): readonly string[];
}

const allocationsOf = (snapshot: Snapshot): Allocations => {
  const { state, conflicts } = recovered(snapshot);
  const labelsOf = (namespace: string) => snapshot.namespaces.get(namespace)?.labels;
  return {
    nadProblems: (key) => (state.nadProblems.get(key) ?? []).filter((text) => !isOverlap(text)),
    nodeFailures: (network) => state.nodes.failures(network),
    podProblems: (pod) => {
      const { problems, waitsFor } = state.planPod(pod, labelsOf(pod.namespace));
      const isExhausted = waitsFor.some((network) => state.pods.usageOf(network).some(({ free }) => free <= 0n));
      return { messages: problems, isExhausted };
    },
    shortageOf: (network) => state.pods.shortageOf(network),
    podConflicts: ({ namespace, name }) =>
      conflicts.flatMap(({ object, message }) =>
        object.kind === 'Pod' && object.namespace === namespace && object.name === name ? [message] : [],
      ),
  };
};

/** The cluster's own ranges are settings of the programs, which the API does not show: the usual ones are assumed. */
const isOverlap = (text: string): boolean => text.includes('overlap');

const recovered = ({
  nads,
  nodes,
  pods,
  claims,
  namespaces,
}: Snapshot): { readonly state: ClusterState; readonly conflicts: readonly Problem[] } => {
  const state = new ClusterState(parseClusterConfig());
  const conflicts = state.recover({
    nads: [...nads.values()],
    nodes: [...nodes.values()],
    pods: [...pods.values()],
    claims: [...claims.values()],
    labelsOf: (namespace) => namespaces.get(namespace)?.labels,
  });
  for (const node of nodes.values()) state.upsertNode(node);
  return { state, conflicts };
};
