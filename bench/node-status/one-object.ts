/** What it would cost if the nodes wrote into the status of a network, each its own entry: one object with many field managers. */
import { CONFIG_MAPS } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';

export interface OneObjectCost {
  /** Of what the server stores, of all writes together, and of the object in the end. */
  readonly bytesStored: number;
  readonly bytesAtTheEnd: number;
  readonly milliseconds: number;
}

const NAME = 'bench-node-status';

/** A ConfigMap, which is stored like any object; an entry is as small as it can be: a network's state on a node. */
export const measureOneObject = async (
  client: Pick<KubeClient, 'patch' | 'delete'>,
  nodes: readonly string[],
): Promise<OneObjectCost> => {
  const ref = { namespace: 'default', name: NAME };
  let [bytesStored, bytesAtTheEnd] = [0, 0];
  const start = performance.now();
  // One after the other: they are all writes of one object, and would only be tried again.
  for (const node of nodes) {
    const body = { metadata: ref, data: { [node]: 'Ready' } };
    const patch = { type: 'apply', body, fieldManager: `udn-agent-${node}` } as const;
    const bytes = JSON.stringify(await client.patch(CONFIG_MAPS, ref, patch)).length;
    bytesStored += bytes;
    bytesAtTheEnd = Math.max(bytesAtTheEnd, bytes);
  }
  const milliseconds = performance.now() - start;
  await client.delete(CONFIG_MAPS, ref);
  return { bytesStored, bytesAtTheEnd, milliseconds };
};
