/** The API's objects of a file, as the agent's mirrors have them. */
import { projectNad } from '../../agent/inputs/nad-projection.ts';
import { projectNamespace } from '../../agent/inputs/namespace-projection.ts';
import { projectNode } from '../../agent/inputs/node-projection.ts';
import { projectPod } from '../../agent/inputs/pod-projection.ts';
import { projectService } from '../../agent/inputs/service-projection.ts';
import { projectSlice, SLICE_INDEXES } from '../../agent/inputs/slice-projection.ts';
import { keyOf } from '../../kube/object-key.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import type { KubeObject } from '../../kube/types.ts';
import { LOCAL_NODE } from './objects.ts';

export type StaticCaches = ReturnType<typeof staticCaches>;

/** @throws Error when one of them cannot be read */
export const staticCaches = (objects: readonly KubeObject[]) => {
  const projected = <T>(kind: string, project: (object: KubeObject) => T | undefined): [string, T][] =>
    objects
      .filter((object) => object.kind === kind)
      .flatMap((object) => {
        const projection = project(object);
        return projection === undefined ? [] : [[keyOf(object), projection]];
      });
  const caches = {
    nodes: createStaticCache(projected('Node', projectNode)),
    namespaces: createStaticCache(projected('Namespace', projectNamespace)),
    nads: createStaticCache(projected('NetworkAttachmentDefinition', projectNad)),
    pods: createStaticCache(projected('Pod', (object) => projectPod(object, LOCAL_NODE))),
    services: createStaticCache(projected('Service', projectService)),
    slices: createStaticCache(projected('EndpointSlice', projectSlice), SLICE_INDEXES),
  };
  const problems = [caches.nodes, caches.pods, caches.slices].flatMap((cache) =>
    [...cache.values()].flatMap((one) => one.problems),
  );
  if (problems.length > 0) throw new Error(`objects that cannot be read: ${JSON.stringify(problems.slice(0, 3))}`);
  return caches;
};
