/** A real API server with our definitions, and a cluster manager on it. */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { parseClusterConfig } from '../../../api/cluster-config.ts';
import { crdFiles } from '../../../api/crd/crds.ts';
import { createManager } from '../../../cluster-manager/controllers/manager.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import type { EventInput } from '../../../kube/events/types.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, NODES } from '../../../kube/resources.ts';
import type { KubeClient, ResourceType } from '../../../kube/types.ts';
import { createKubectl, type Kubectl } from '../../conformance/kube/kubectl.ts';
import { startRealServer } from '../../conformance/kube/real-server.ts';

export interface Cluster {
  readonly client: KubeClient;
  readonly kubectl: Kubectl;
  /** What the cluster manager has reported. */
  readonly events: readonly EventInput[];
  startManager(): Promise<void>;
  /** @param made of a server that was given, what has to go again */
  close(made: { readonly namespaces: readonly string[]; readonly nodes: readonly string[] }): Promise<void>;
}

export const startCluster = async (name: string): Promise<Cluster> => {
  const server = await startRealServer(name);
  const client = await server.connect();
  const kubectl = await createKubectl(await readFile(server.kubeconfig, 'utf8'));
  for (const text of Object.values(crdFiles())) {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(text)).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  await kubectl.run('wait', '--for=condition=Established', 'crd', '--all', '--timeout=20s');
  const events: EventInput[] = [];
  const stop = new AbortController();
  let ended: Promise<void> | undefined;
  return {
    client,
    kubectl,
    events,
    startManager: async () => {
      const manager = createManager({
        client: await server.connect(),
        events: { record: (event) => events.push(event), flush: () => Promise.resolve() },
        cluster: parseClusterConfig(),
      });
      ended = manager.run(stop.signal);
    },
    close: async ({ namespaces, nodes }) => {
      const remove = (resource: ResourceType, names: readonly string[]) =>
        Promise.all(names.map((one) => client.delete(resource, { name: one }).catch(() => {})));
      await remove(NAMESPACES, namespaces);
      await remove(NODES, nodes);
      stop.abort();
      await ended;
      await kubectl.close();
      client.close();
      await server.close();
    },
  };
};

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}
