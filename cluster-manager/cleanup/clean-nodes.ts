/** `udn-cluster-manager cleanup`: removes annotations and conditions of ours from all Nodes. Idempotent; a deleted Node is clean. */
import type { Logger } from 'pino';
import { z } from 'zod';
import { messageOf } from '../../base/error-message.ts';
import { isNotFound } from '../../kube/errors.ts';
import { listAll } from '../../kube/reflector/list-all.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient, KubeObject } from '../../kube/types.ts';
import { annotationsPatch, conditionsPatch, type NodeTraces, tracesOf } from './node-traces.ts';

const nodeSchema = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()).nullish() }),
  status: z
    .object({ conditions: z.array(z.object({ type: z.string(), reason: z.string().optional() })).nullish() })
    .nullish(),
});

export interface CleanupContext {
  readonly client: Pick<KubeClient, 'list' | 'patch'>;
  readonly log: Pick<Logger, 'info'>;
}

/** @throws Error that names the Nodes that keep something, and why; the others are clean */
export const cleanNodes = async ({ client, log }: CleanupContext): Promise<void> => {
  const failures: string[] = [];
  for (const [node, traces] of await readTraces(client)) {
    try {
      await removeTraces(client, node, traces);
      log.info({ node, ...traces }, 'removed');
    } catch (error) {
      if (!isNotFound(error)) failures.push(`${node}: ${messageOf(error)}`);
    }
  }
  if (failures.length > 0) throw new Error(`not everything could be removed: ${failures.join('; ')}`);
};

const readTraces = async (client: Pick<KubeClient, 'list'>): Promise<ReadonlyMap<string, NodeTraces>> => {
  const found = new Map<string, NodeTraces>();
  const see = (object: KubeObject): void => {
    const { metadata, status } = nodeSchema.parse(object);
    const traces = tracesOf({ annotations: metadata.annotations ?? {}, conditions: status?.conditions ?? [] });
    if (traces.annotations.length + traces.conditions.length > 0) found.set(object.metadata.name, traces);
  };
  await listAll(client, NODES, { pageSize: 500 }, see, () => found.clear());
  return found;
};

const removeTraces = async (client: Pick<KubeClient, 'patch'>, name: string, traces: NodeTraces): Promise<void> => {
  if (traces.conditions.length > 0) {
    const patch = { type: 'strategic', body: conditionsPatch(traces) } as const;
    await client.patch(NODES, { name }, patch, { subresource: 'status' });
  }
  if (traces.annotations.length > 0) {
    await client.patch(NODES, { name }, { type: 'merge', body: annotationsPatch(traces) });
  }
};
