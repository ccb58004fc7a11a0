/** The mirrors of the API server that the controllers read. */
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  IPAM_CLAIMS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  NODE_NETWORK_REPORTS,
  USER_DEFINED_NETWORKS,
} from '../../api/resources.ts';
import { messageOf } from '../../base/error-message.ts';
import { createOutage } from '../../kube/outage.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { ObjectCache, Reflector, ReflectorObservation, ReflectorOptions } from '../../kube/reflector/types.ts';
import { ENDPOINT_SLICES, NAMESPACES, NODES, PODS } from '../../kube/resources.ts';
import type { KubeClient, ResourceType } from '../../kube/types.ts';
import { namedClaims } from '../allocation/pod-claims.ts';
import { type ClaimFacts, claimFacts } from '../facts/claim-facts.ts';
import { type NadFacts, nadFacts } from '../facts/nad-facts.ts';
import { type NamespaceFacts, namespaceFacts } from '../facts/namespace-facts.ts';
import { cudnFacts, type NetworkFacts, udnFacts } from '../facts/network-facts.ts';
import { type NodeFacts, nodeFacts } from '../facts/node-facts.ts';
import { type PodFacts, podFacts, samePod, selectedNads, usedNads } from '../facts/pod-facts.ts';
import { type ReportFacts, reportFacts } from '../facts/report-facts.ts';
import { podsOfSlice, SLICE_SELECTOR, type SliceFacts, sliceFacts } from '../facts/slice-facts.ts';

export interface Caches {
  readonly udns: ObjectCache<NetworkFacts, 'namespace'>;
  readonly cudns: ObjectCache<NetworkFacts>;
  readonly nads: ObjectCache<NadFacts, 'namespace' | 'owner' | 'adopted'>;
  readonly namespaces: ObjectCache<NamespaceFacts, 'label'>;
  readonly nodes: ObjectCache<NodeFacts>;
  /** `usedNad` is what the pod's annotation says, `selectedNad` and `claim` what it asks for. */
  readonly pods: ObjectCache<PodFacts, 'namespace' | 'usedNad' | 'selectedNad' | 'claim'>;
  readonly claims: ObjectCache<ClaimFacts>;
  /** By the name of the node. */
  readonly reports: ObjectCache<ReportFacts>;
  /** Of Services with a selector, and their mirrors. `source` is the slice that is or has a mirror. */
  readonly slices: ObjectCache<SliceFacts, 'namespace' | 'pod' | 'source'>;
}

export interface Mirrors {
  readonly caches: Caches;
  /** Runs until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Each resource that could not be read yet, and why where that is known, for people. */
  unread(): readonly string[];
  /** The longest time since one of them heard of the server. */
  silenceMs(): number;
}

export type MirrorObservation = ReflectorObservation & { readonly resource: string };

/** @param outage of the server, when others use it too */
export const createMirrors = (
  client: KubeClient,
  observe: (observation: MirrorObservation) => void,
  outage = createOutage(),
): Mirrors => {
  const all: { readonly resource: string; readonly reflector: Reflector<unknown, string> }[] = [];
  const failures = new Map<string, string>();
  const mirror = <Value, Index extends string = never>(
    resource: ResourceType,
    options: Omit<ReflectorOptions<Value, Index>, 'client' | 'resource' | 'observe'>,
  ): Reflector<Value, Index> => {
    const report = (observation: ReflectorObservation): void => {
      if (observation.kind === 'failed') failures.set(resource.plural, `: ${messageOf(observation.error)}`);
      observe({ ...observation, resource: resource.plural });
    };
    const reflector = createReflector<Value, Index>({ ...options, client, outage, resource, observe: report });
    all.push({ resource: resource.plural, reflector: reflector as unknown as Reflector<unknown, string> });
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
        // Of every owner: whoever edits what the reference says does not make it another's.
        owner: ({ metadata }: NadFacts) => metadata.ownerReferences.map(({ uid }) => uid),
        adopted: ({ adopted }: NadFacts) => (adopted === undefined ? [] : [adopted.name]),
      },
    }),
    namespaces: mirror(NAMESPACES, {
      project: namespaceFacts,
      indexes: {
        label: ({ labels }: NamespaceFacts) => Object.entries(labels).map(([key, value]) => `${key}=${value}`),
      },
    }),
    nodes: mirror<NodeFacts>(NODES, { project: nodeFacts }),
    // The server reads each page from its storage again: half as many take a tenth to a fifth less until all are here.
    pods: mirror(PODS, { ...POD_MIRROR, timings: { pageSize: 1000 } }),
    // A cluster of before has no CRDs of these: then there are none.
    claims: mirror<ClaimFacts>(IPAM_CLAIMS, { project: claimFacts, optional: true }),
    reports: mirror<ReportFacts>(NODE_NETWORK_REPORTS, { project: reportFacts, optional: true }),
    slices: mirror(ENDPOINT_SLICES, {
      project: sliceFacts,
      labelSelector: SLICE_SELECTOR,
      indexes: {
        namespace: ({ metadata }: SliceFacts) => [metadata.namespace],
        pod: podsOfSlice,
        source: ({ source }: SliceFacts) => [source],
      },
    }),
  };
  return {
    caches,
    run: async (signal) => {
      await Promise.all(all.map(({ reflector }) => reflector.run(signal)));
    },
    whenSynced: async (signal) => {
      await Promise.all(all.map(({ reflector }) => reflector.whenSynced(signal)));
    },
    unread: () =>
      all
        .filter(({ reflector }) => !reflector.synced)
        .map(({ resource }) => `${resource} are not synced yet${failures.get(resource) ?? ''}`),
    silenceMs: () => Math.max(...all.map(({ reflector }) => reflector.silenceMs())),
  };
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
