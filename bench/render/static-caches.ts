/** The API's objects of a file, as the agent's mirrors have them. */
import { type NadProjection, projectNad } from '../../agent/inputs/nad-projection.ts';
import { projectNamespace } from '../../agent/inputs/namespace-projection.ts';
import { type NodeProjection, projectNode } from '../../agent/inputs/node-projection.ts';
import { type PodProjection, projectPod } from '../../agent/inputs/pod-projection.ts';
import { projectService } from '../../agent/inputs/service-projection.ts';
import { projectSlice, SLICE_INDEXES, type SliceProjection } from '../../agent/inputs/slice-projection.ts';
import type { NamespaceFact, ServiceFact } from '../../agent/model/facts.ts';
import { keyOf } from '../../kube/object-key.ts';
import { createStaticCache, type StaticCache } from '../../kube/reflector/static-cache.ts';
import type { KubeObject } from '../../kube/types.ts';
import { LOCAL_NODE } from './objects.ts';

export type StaticCaches = ReturnType<typeof staticCaches>;

/** @throws Error when one of them cannot be read */
export const staticCaches = (objects: Iterable<KubeObject>) => {
  const caches = {
    nodes: createStaticCache<NodeProjection>(),
    namespaces: createStaticCache<NamespaceFact>(),
    nads: createStaticCache<NadProjection>(),
    pods: createStaticCache<PodProjection>(),
    services: createStaticCache<ServiceFact>(),
    slices: createStaticCache<SliceProjection, 'service'>([], SLICE_INDEXES),
  };
  const into =
    <T>(cache: Pick<StaticCache<T>, 'set'>, project: (object: KubeObject) => T | undefined) =>
    (object: KubeObject): void => {
      const projection = project(object);
      if (projection !== undefined) cache.set(keyOf(object), projection);
    };
  const readers = new Map([
    ['Node', into(caches.nodes, projectNode)],
    ['Namespace', into(caches.namespaces, projectNamespace)],
    ['NetworkAttachmentDefinition', into(caches.nads, projectNad)],
    ['Pod', into(caches.pods, (object) => projectPod(object, LOCAL_NODE))],
    ['Service', into(caches.services, projectService)],
    ['EndpointSlice', into(caches.slices, projectSlice)],
  ]);
  for (const object of objects) readers.get(String(object.kind))?.(object);
  const problems = [caches.nodes, caches.pods, caches.slices].flatMap((cache) =>
    [...cache.values()].flatMap((one) => one.problems),
  );
  if (problems.length > 0) throw new Error(`objects that cannot be read: ${JSON.stringify(problems.slice(0, 3))}`);
  return caches;
};
