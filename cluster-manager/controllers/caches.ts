/** The mirrors of the API server that the controllers read. */
import { parseNetworkSelections } from '../../api/annotations/network-selection.ts';
import { ApiError } from '../../api/errors.ts';
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  IPAM_CLAIMS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  NODE_NETWORK_REPORTS,
  USER_DEFINED_NETWORKS,
} from '../../api/resources.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { ObjectCache, Reflector, ReflectorObservation, ReflectorOptions } from '../../kube/reflector/types.ts';
import { NAMESPACES, NODES, PODS } from '../../kube/resources.ts';
import type { KubeClient, ResourceType } from '../../kube/types.ts';
import { namedClaims } from '../allocation/pod-claims.ts';
import { type ClaimFacts, claimFacts } from '../facts/claim-facts.ts';
import { controllerUid, type NadFacts, nadFacts } from '../facts/nad-facts.ts';
import { type NamespaceFacts, namespaceFacts } from '../facts/namespace-facts.ts';
import { cudnFacts, type NetworkFacts, udnFacts } from '../facts/network-facts.ts';
import { type NodeFacts, nodeFacts } from '../facts/node-facts.ts';
import { type PodFacts, podFacts, samePod, usedNads } from '../facts/pod-facts.ts';
import { type ReportFacts, reportFacts } from '../facts/report-facts.ts';

export interface Caches {
  readonly udns: ObjectCache<NetworkFacts, 'namespace'>;
  readonly cudns: ObjectCache<NetworkFacts>;
  readonly nads: ObjectCache<NadFacts, 'namespace' | 'owner'>;
  readonly namespaces: ObjectCache<NamespaceFacts, 'label'>;
  readonly nodes: ObjectCache<NodeFacts>;
  /** `usedNad` is what the pod's annotation says, `selectedNad` and `claim` what it asks for. */
  readonly pods: ObjectCache<PodFacts, 'namespace' | 'usedNad' | 'selectedNad' | 'claim'>;
  readonly claims: ObjectCache<ClaimFacts>;
  /** By the name of the node. */
  readonly reports: ObjectCache<ReportFacts>;
}

export interface Mirrors {
  readonly caches: Caches;
  /** Runs until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  whenSynced(signal: AbortSignal): Promise<void>;
  /** The longest time since one of them heard of the server. */
  silenceMs(): number;
}

export type MirrorObservation = ReflectorObservation & { readonly resource: string };

export const createMirrors = (client: KubeClient, observe: (observation: MirrorObservation) => void): Mirrors => {
  const all: Reflector<unknown, string>[] = [];
  const mirror = <Value, Index extends string = never>(
    resource: ResourceType,
    options: Omit<ReflectorOptions<Value, Index>, 'client' | 'resource' | 'observe'>,
  ): Reflector<Value, Index> => {
    const report = (observation: ReflectorObservation): void => observe({ ...observation, resource: resource.plural });
    const reflector = createReflector<Value, Index>({ ...options, client, resource, observe: report });
    all.push(reflector as unknown as Reflector<unknown, string>);
    return reflector;
  };
  const caches: Caches = {
    udns: mirror(USER_DEFINED_NETWORKS, {
      project: udnFacts,
      indexes: { namespace: ({ metadata }: NetworkFacts) => [metadata.namespace ?? ''] },
    }),
    cudns: mirror<NetworkFacts>(CLUSTER_USER_DEFINED_NETWORKS, { project: cudnFacts }),
    nads: mirror(NETWORK_ATTACHMENT_DEFINITIONS, {
      project: nadFacts,
      indexes: {
        namespace: ({ metadata }: NadFacts) => [metadata.namespace],
        owner: (nad: NadFacts) => [controllerUid(nad) ?? []].flat(),
      },
    }),
    namespaces: mirror(NAMESPACES, {
      project: namespaceFacts,
      indexes: {
        label: ({ labels }: NamespaceFacts) => Object.entries(labels).map(([key, value]) => `${key}=${value}`),
      },
    }),
    nodes: mirror<NodeFacts>(NODES, { project: nodeFacts }),
    pods: mirror(PODS, POD_MIRROR),
    // A cluster of before has no CRDs of these: then there are none.
    claims: mirror<ClaimFacts>(IPAM_CLAIMS, { project: claimFacts, optional: true }),
    reports: mirror<ReportFacts>(NODE_NETWORK_REPORTS, { project: reportFacts, optional: true }),
  };
  return {
    caches,
    run: async (signal) => {
      await Promise.all(all.map((reflector) => reflector.run(signal)));
    },
    whenSynced: async (signal) => {
      await Promise.all(all.map((reflector) => reflector.whenSynced(signal)));
    },
    silenceMs: () => Math.max(...all.map((reflector) => reflector.silenceMs())),
  };
};

/** What can't be read selects nothing; the pod is told where its addresses are given. */
const selectedNads = ({ annotations, key }: PodFacts): readonly string[] => {
  if (annotations.selection === undefined) return [];
  try {
    return parseNetworkSelections(annotations.selection, key).map(({ namespace, name }) => `${namespace}/${name}`);
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
};

/** What is kept of pods, and how they are found. */
export const POD_MIRROR = {
  project: podFacts,
  equal: samePod,
  indexes: {
    namespace: ({ namespace }: PodFacts): readonly string[] => [namespace],
    usedNad: usedNads,
    selectedNad: selectedNads,
    claim: namedClaims,
  },
} as const;
