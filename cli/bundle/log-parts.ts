/** What a bundle has of logs: of every container of the agents and of the cluster manager, and of the one before it. */
import { z } from 'zod';
import { PODS } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { ServerWithExec } from '../cluster/cluster-command.ts';
import type { Part } from './collect.ts';

const PART_OF = 'app.kubernetes.io/part-of=ovn-udn';
const LINES = 5_000;

export const logParts = async (
  client: Pick<KubeClient, 'list'>,
  readLog: ServerWithExec['readLog'],
  namespace: string,
): Promise<readonly Part[]> => {
  const { items } = await client.list(PODS, { namespace, labelSelector: PART_OF });
  return items.flatMap((item) => {
    const { metadata, spec, status } = podSchema.parse(item);
    const restarted = new Set(
      status.containerStatuses.filter(({ restartCount }) => restartCount > 0).map(({ name }) => name),
    );
    return spec.containers.flatMap(({ name: container }) => {
      const target = { namespace, pod: metadata.name, container };
      const path = `logs/${metadata.name}/${container}`;
      const before = { path: `${path}.previous.log`, read: () => readLog({ ...target, previous: true }, LINES) };
      return [
        { path: `${path}.log`, read: () => readLog(target, LINES) },
        ...(restarted.has(container) ? [before] : []),
      ];
    });
  });
};

const podSchema = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({ containers: z.array(z.object({ name: z.string() })) }),
  status: z
    .object({ containerStatuses: z.array(z.object({ name: z.string(), restartCount: z.number() })).default([]) })
    .default({ containerStatuses: [] }),
});
