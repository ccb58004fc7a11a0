/** Waits for Node objects. */
import { abortable } from '../../base/abort.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { readNode } from '../control-plane/objects.ts';
import type { PlaceableNode } from '../control-plane/placement.ts';

const STATES: Readonly<Record<'Ready' | 'registered', (node: PlaceableNode) => boolean>> = {
  Ready: (node) => node.isReady,
  registered: () => true,
};

export const waitForNodeState = async (
  client: KubeClient,
  names: readonly string[],
  state: keyof typeof STATES,
  signal: AbortSignal,
  progress: (message: string) => void,
): Promise<void> => {
  const stop = new AbortController();
  const missing = new Set(names);
  const nodes = createReflector({ client, resource: NODES, project: readNode });
  await abortable<void>(signal, (resolve) => {
    nodes.subscribe(({ key, after }) => {
      if (after === undefined || !STATES[state](after) || !missing.delete(key)) return;
      progress(`${key} is ${state}`);
      if (missing.size === 0) resolve();
    });
    void nodes.run(stop.signal);
    return () => stop.abort();
  });
};
