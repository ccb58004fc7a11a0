/** An API server with Services whose endpoints change, and a look at what the northbound database has of them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedServer } from '../../kube/embedded/server.ts';
import { refOf } from '../../kube/object-key.ts';
import { ENDPOINT_SLICES, NAMESPACES, NODES, SERVICES } from '../../kube/resources.ts';
import type { KubeClient, KubeObject, ObjectInput, ResourceType } from '../../kube/types.ts';
import { OvsdbSession, type Remote, Replica } from '../../ovsdb/index.ts';
import { ovnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { serviceKey, serviceObjects, sliceName, sliceObject } from './objects.ts';

export interface ServiceCluster {
  readonly kubeconfig: string;
  /** Writes the slice of a Service with so many endpoints. */
  setEndpoints(service: number, count: number): Promise<void>;
}

/** Over HTTP. */
export const startServiceCluster = async (
  services: number,
  folder: string,
  resources: AsyncDisposableStack,
): Promise<ServiceCluster> => {
  const server = await startEmbeddedServer({ listen: [{ host: '127.0.0.1', port: 0 }] });
  resources.defer(() => server.close());
  const client = server.cluster.client('bench');
  for (const object of serviceObjects(services)) await create(client, object);
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig());
  return {
    kubeconfig,
    setEndpoints: async (service, count) => {
      const { namespace } = refOf(serviceKey(service));
      const { endpoints } = sliceObject(service, count);
      const body = { endpoints };
      await client.patch(ENDPOINT_SLICES, { namespace, name: sliceName(service) }, { type: 'merge', body });
    },
  };
};

const RESOURCES: Readonly<Record<string, ResourceType>> = {
  Node: NODES,
  Namespace: NAMESPACES,
  Service: SERVICES,
  EndpointSlice: ENDPOINT_SLICES,
};

/** Without its owner: what belongs to a Service with another uid is collected. */
const create = async (client: KubeClient, { metadata, ...object }: KubeObject): Promise<void> => {
  const resource = RESOURCES[String(object.kind)];
  if (resource === undefined) throw new Error(`no resource for ${object.kind}`);
  const { uid: _, resourceVersion: __, creationTimestamp: ___, ownerReferences: ____, ...rest } = metadata;
  await client.create(resource, { ...object, metadata: rest } as ObjectInput);
};

/**
 * @param onEndpoints called whenever a load balancer comes or changes: `namespace/name` of its Service, and how many
 * endpoints it has
 */
export const watchLoadBalancers = async (
  remote: Remote,
  onEndpoints: (service: string, endpoints: number) => void,
  resources: AsyncDisposableStack,
): Promise<void> => {
  const replica = new Replica({ model: ovnNorthbound, tables: { Load_Balancer: ['external_ids', 'vips'] } });
  const session = new OvsdbSession({ database: replica.database, remotes: [remote] });
  replica.onUpdate(({ changes }) => {
    for (const { after } of changes) {
      if (after === undefined) continue;
      const { external_ids: ids, vips } = after as unknown as Record<string, Readonly<Record<string, string>>>;
      const [backends = ''] = Object.values(vips ?? {});
      onEndpoints(ids?.['k8s.ovn.org/owner'] ?? '', backends.split(',').length);
    }
  });
  session.mirror(replica);
  session.start();
  resources.defer(() => session.close());
  await replica.whenSynced();
};
