/** The API's objects as the agent's mirrors have them, pods and namespaces once for all their readers; they can change. */
import { projectNad } from '../../agent/inputs/nad-projection.ts';
import { projectNamespaceParts } from '../../agent/inputs/namespace-parts.ts';
import { projectNode } from '../../agent/inputs/node-projection.ts';
import { projectPodParts, samePodParts } from '../../agent/inputs/pod-parts.ts';
import { projectPolicy } from '../../agent/inputs/policies/policy-projection.ts';
import { policyCaches } from '../../agent/inputs/policy-caches.ts';
import { projectService } from '../../agent/inputs/service-projection.ts';
import { projectSlice, SLICE_INDEXES } from '../../agent/inputs/slice-projection.ts';
import { keyOf } from '../../kube/object-key.ts';
import { partOf } from '../../kube/reflector/part-of.ts';
import { createProjectionStore, type ProjectionStoreOptions } from '../../kube/reflector/projection-store.ts';
import type { KubeObject } from '../../kube/types.ts';
import { LOCAL_NODE } from '../render/objects.ts';

/** @throws Error when one cannot be read */
export const liveCaches = (objects: Iterable<KubeObject>) => {
  const nodes = storeOf({ project: projectNode });
  const namespaces = storeOf({ project: projectNamespaceParts });
  const nads = storeOf({ project: projectNad });
  const pods = storeOf({
    project: (object, before) => projectPodParts(object, LOCAL_NODE, before),
    equal: samePodParts,
  });
  const policies = storeOf({ project: projectPolicy });
  const services = storeOf({ project: projectService });
  const slices = storeOf({ project: projectSlice, indexes: SLICE_INDEXES });
  const stores = new Map<unknown, { put(object: KubeObject): void; remove(key: string): void }>([
    ['Node', nodes],
    ['Namespace', namespaces],
    ['NetworkAttachmentDefinition', nads],
    ['Pod', pods],
    ['NetworkPolicy', policies],
  ]);
  const storeFor = ({ kind }: KubeObject) => {
    const found = stores.get(kind);
    if (found === undefined) throw new Error(`no mirror of ${String(kind)}`);
    return found;
  };
  const put = (object: KubeObject): void => storeFor(object).put(object);
  for (const object of objects) put(object);
  return {
    put,
    remove: (object: KubeObject): void => storeFor(object).remove(keyOf(object)),
    caches: {
      nodes,
      namespaces: partOf(namespaces, ({ fact }) => fact),
      nads,
      pods: partOf(pods, ({ pod }) => pod),
      services,
      slices,
      policies: policyCaches(policies, {}, { nodes, namespaces, pods }),
    },
  };
};

const storeOf = <T, I extends string = never>(options: Omit<ProjectionStoreOptions<T, I>, 'observe'>) => {
  const store = createProjectionStore<T, I>({
    ...options,
    observe: (observation) => {
      if (observation.kind === 'bad') throw observation.reason;
      if (observation.kind === 'handler-failed') throw observation.error;
    },
  });
  return Object.assign(store, { synced: true, whenSynced: () => Promise.resolve() });
};
