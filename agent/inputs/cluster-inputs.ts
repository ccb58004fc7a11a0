/** Mirrors of the API's objects, each reduced to what the agent needs. */

import {
  DNS_NAME_RESOLVERS,
  MULTI_NETWORK_POLICIES,
  NETWORK_ATTACHMENT_DEFINITIONS,
  NETWORK_ID_POOLS,
} from '../../api/resources.ts';
import { messageOf } from '../../base/error-message.ts';
import { createOutage, type Outage } from '../../kube/outage.ts';
import { partOf } from '../../kube/reflector/part-of.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { ObjectCache, Reflector, ReflectorObservation, ReflectorOptions } from '../../kube/reflector/types.ts';
import { ENDPOINT_SLICES, NAMESPACES, NETWORK_POLICIES, NODES, PODS, SERVICES } from '../../kube/resources.ts';
import type { KubeClient, ResourceType } from '../../kube/types.ts';
import type { WildcardSource } from '../dns/wildcards.ts';
import type { NamespaceFact, ServiceFact } from '../model/facts.ts';
import { ABSENT_MS, createAdminInputs } from './admin-inputs.ts';
import type { ClusterCaches } from './fact-feeder.ts';
import { badNad, type ForeignNad, type NadProjection, projectNad } from './nad-projection.ts';
import { projectNamespaceParts } from './namespace-parts.ts';
import { type NodeProjection, projectNode } from './node-projection.ts';
import { projectPodParts, samePodParts } from './pod-parts.ts';
import type { PodProjection } from './pod-projection.ts';
import { type MultiProjection, projectMultiPolicy } from './policies/multi-projection.ts';
import { projectPolicy } from './policies/policy-projection.ts';
import { type PolicyCaches, policyCaches } from './policy-caches.ts';
import type { Problem } from './problem.ts';
import { projectRetiredIds, type RetiredIds } from './retired-ids.ts';
import { badService, projectService } from './service-projection.ts';
import { badSlice, projectSlice, SLICE_INDEXES, type SliceProjection } from './slice-projection.ts';
import { createWildcardInput } from './wildcard-input.ts';

export interface ClusterInputs extends ClusterCaches {
  readonly nodes: Reflector<NodeProjection>;
  readonly namespaces: ObjectCache<NamespaceFact>;
  readonly nads: Reflector<NadProjection | ForeignNad>;
  readonly pods: ObjectCache<PodProjection>;
  readonly policies: PolicyCaches;
  readonly services: Reflector<ServiceFact>;
  readonly slices: Reflector<SliceProjection, 'service'>;
  /** The ids of deleted networks; a cluster of before has none. */
  readonly idPools: Reflector<RetiredIds>;
  /** What wildcards of domain names stand for; absent: they are refused. */
  readonly wildcards?: WildcardSource | undefined;
  /** Mirrors until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  whenSynced(signal: AbortSignal): Promise<void>;
  isSynced(): boolean;
  /** Each resource that could not be read yet, and why where that is known, for people. */
  unread(): readonly string[];
  /** What could not be read, of all objects but those that the index of policies reports. */
  problems(): Problem[];
}

export interface ClusterInputsOptions {
  readonly client: KubeClient;
  readonly outage?: Outage | undefined;
  /** The local node's name. */
  readonly node: string;
  /** Where DNSNameResolvers are followed; absent: nowhere. */
  readonly dnsNameResolver?: string | undefined;
  readonly observe: (resource: string, observation: ReflectorObservation) => void;
}

export const createClusterInputs = ({
  client,
  outage = createOutage(),
  node,
  dnsNameResolver,
  observe,
}: ClusterInputsOptions): ClusterInputs => {
  const failures = new Map<string, string>();
  const common = (resource: ResourceType) => ({
    client,
    outage,
    resource,
    observe: (observation: ReflectorObservation) => {
      if (observation.kind === 'failed') failures.set(resource.plural, `: ${messageOf(observation.error)}`);
      observe(resource.plural, observation);
    },
  });
  const nodes = createReflector({ ...common(NODES), project: projectNode });
  const namespaces = createReflector({ ...common(NAMESPACES), project: projectNamespaceParts });
  const nads = createReflector({ ...common(NETWORK_ATTACHMENT_DEFINITIONS), project: projectNad, optional: true });
  const pods = createReflector({
    ...common(PODS),
    project: (pod, before) => projectPodParts(pod, node, before),
    equal: samePodParts,
  });
  const policies = createReflector({ ...common(NETWORK_POLICIES), project: projectPolicy });
  const multi = createMultiPolicies(common(MULTI_NETWORK_POLICIES));
  const services = createReflector({ ...common(SERVICES), project: projectService });
  const slices = createReflector({ ...common(ENDPOINT_SLICES), project: projectSlice, indexes: SLICE_INDEXES });
  const idPools = createReflector({ ...common(NETWORK_ID_POOLS), project: projectRetiredIds, optional: true });
  const admin = createAdminInputs(common, { followsWildcards: dnsNameResolver !== undefined });
  const wildcards = dnsNameResolver === undefined ? undefined : createWildcardInput(dnsNameResolver, common);
  const byName: Readonly<Record<string, Pick<Reflector<unknown>, 'run' | 'whenSynced' | 'synced'>>> = {
    networkidpools: idPools,
    nodes,
    namespaces,
    [NETWORK_ATTACHMENT_DEFINITIONS.plural]: nads,
    pods,
    services,
    networkpolicies: policies,
    [MULTI_NETWORK_POLICIES.plural]: multi,
    ...admin.reflectors,
    endpointslices: slices,
    ...(wildcards && { [DNS_NAME_RESOLVERS.plural]: wildcards.reflector }),
  };
  const all = Object.values(byName);
  const localPods = partOf(pods, ({ pod }) => pod);
  return {
    nodes,
    namespaces: partOf(namespaces, ({ fact }) => fact),
    nads,
    pods: localPods,
    services,
    slices,
    idPools,
    wildcards: wildcards?.source,
    policies: policyCaches(policies, admin.caches, { nodes, namespaces, pods, multi }),
    run: async (signal) => {
      await Promise.all(all.map((reflector) => reflector.run(signal)));
    },
    whenSynced: async (signal) => {
      await Promise.all(all.map((reflector) => reflector.whenSynced(signal)));
    },
    isSynced: () => all.every(({ synced }) => synced),
    unread: () =>
      Object.entries(byName)
        .filter(([, { synced }]) => !synced)
        .map(([resource]) => `${resource} are not synced from the API server yet${failures.get(resource) ?? ''}`),
    problems: () => [...problemsOf({ nodes, pods: localPods, nads, services, slices }), ...admin.problems()],
  };
};

/** Most clusters have no such definition, and each agent asks for it. */
const createMultiPolicies = (
  common: Pick<ReflectorOptions<MultiProjection>, 'client' | 'outage' | 'resource' | 'observe'>,
): Reflector<MultiProjection> =>
  createReflector({ ...common, project: projectMultiPolicy, optional: true, timings: { absentMs: ABSENT_MS } });

const problemsOf = ({
  nodes,
  pods,
  nads,
  services,
  slices,
}: Pick<ClusterInputs, 'nodes' | 'pods' | 'nads' | 'services' | 'slices'>): Problem[] => [
  ...[...nodes.values()].flatMap(({ problems }) => problems),
  ...[...pods.values()].flatMap(({ problems }) => problems),
  ...nads.bad.values().map(({ key, reason }) => badNad(key, reason)),
  ...services.bad.values().map(({ key, reason }) => badService(key, reason)),
  ...[...slices.values()].flatMap(({ problems }) => problems),
  ...slices.bad.values().map(({ key, reason }) => badSlice(key, reason)),
];
