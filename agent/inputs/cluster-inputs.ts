/** Mirrors of the API's objects, each reduced to what the agent needs. */
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { Reflector, ReflectorObservation } from '../../kube/reflector/types.ts';
import { NAMESPACES, NODES, PODS } from '../../kube/resources.ts';
import type { KubeClient, ResourceType } from '../../kube/types.ts';
import type { NamespaceFact } from '../model/facts.ts';
import type { ClusterCaches } from './fact-feeder.ts';
import { badNad, type NadProjection, projectNad } from './nad-projection.ts';
import { projectNamespace } from './namespace-projection.ts';
import { type NodeProjection, projectNode } from './node-projection.ts';
import { type PodProjection, projectPod, samePod } from './pod-projection.ts';
import type { Problem } from './problem.ts';

export interface ClusterInputs extends ClusterCaches {
  readonly nodes: Reflector<NodeProjection>;
  readonly namespaces: Reflector<NamespaceFact>;
  readonly nads: Reflector<NadProjection>;
  readonly pods: Reflector<PodProjection>;
  /** Mirrors until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  whenSynced(signal: AbortSignal): Promise<void>;
  isSynced(): boolean;
  /** What could not be read, of all objects. */
  problems(): Problem[];
}

export interface ClusterInputsOptions {
  readonly client: KubeClient;
  /** The local node's name. */
  readonly node: string;
  readonly observe: (resource: string, observation: ReflectorObservation) => void;
}

export const createClusterInputs = ({ client, node, observe }: ClusterInputsOptions): ClusterInputs => {
  const common = (resource: ResourceType) => ({
    client,
    resource,
    observe: (observation: ReflectorObservation) => observe(resource.plural, observation),
  });
  const nodes = createReflector({ ...common(NODES), project: projectNode });
  const namespaces = createReflector({ ...common(NAMESPACES), project: projectNamespace });
  const nads = createReflector({ ...common(NETWORK_ATTACHMENT_DEFINITIONS), project: projectNad, optional: true });
  const pods = createReflector({ ...common(PODS), project: (pod) => projectPod(pod, node), equal: samePod });
  const all = [nodes, namespaces, nads, pods];
  return {
    nodes,
    namespaces,
    nads,
    pods,
    run: async (signal) => {
      await Promise.all(all.map((reflector) => reflector.run(signal)));
    },
    whenSynced: async (signal) => {
      await Promise.all(all.map((reflector) => reflector.whenSynced(signal)));
    },
    isSynced: () => all.every(({ synced }) => synced),
    problems: () => [
      ...[...nodes.values()].flatMap(({ problems }) => problems),
      ...[...pods.values()].flatMap(({ problems }) => problems),
      ...nads.bad.values().map(({ key, reason }) => badNad(key, reason)),
    ],
  };
};
