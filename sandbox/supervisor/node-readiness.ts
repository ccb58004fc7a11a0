/** Waits for Node objects. */
import { abortable } from '../../base/abort.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { readNode } from '../control-plane/objects.ts';
import type { PlaceableNode } from '../control-plane/placement.ts';

export const waitForNodesReady = (
  client: KubeClient,
  names: readonly string[],
  signal: AbortSignal,
  progress: (message: string) => void,
): Promise<void> =>
  waitForNodes(
    client,
    names,
    signal,
    (node) => node.isReady,
    (name) => progress(`${name} is Ready`),
  );

export const waitForNodesRegistered = (
  client: KubeClient,
  names: readonly string[],
  signal: AbortSignal,
  progress: (message: string) => void,
): Promise<void> =>
  waitForNodes(
    client,
    names,
    signal,
    () => true,
    (name) => progress(`${name} is registered`),
  );

const waitForNodes = async (
  client: KubeClient,
  names: readonly string[],
  signal: AbortSignal,
  isDone: (node: PlaceableNode) => boolean,
  onDone: (name: string) => void,
): Promise<void> => {
  const stop = new AbortController();
  const missing = new Set(names);
  const nodes = createReflector({ client, resource: NODES, project: readNode });
  await abortable<void>(signal, (resolve) => {
    nodes.subscribe(({ key, after }) => {
      if (after === undefined || !isDone(after) || !missing.delete(key)) return;
      onDone(key);
      if (missing.size === 0) resolve();
    });
    void nodes.run(stop.signal);
    return () => stop.abort();
  });
};
