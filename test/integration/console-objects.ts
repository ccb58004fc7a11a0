/** Creates objects as tests have them, with their status, in an API server. */

import {
  CLUSTER_USER_DEFINED_NETWORKS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  USER_DEFINED_NETWORKS,
} from '../../api/resources.ts';
import { ENDPOINT_SLICES, NAMESPACES, NODES, PODS, SERVICES } from '../../kube/resources.ts';
import type { KubeClient, ObjectInput, ResourceType } from '../../kube/types.ts';

const RESOURCES: readonly ResourceType[] = [
  ...[NAMESPACES, NODES, PODS, SERVICES, ENDPOINT_SLICES],
  ...[USER_DEFINED_NETWORKS, CLUSTER_USER_DEFINED_NETWORKS, NETWORK_ATTACHMENT_DEFINITIONS],
];

/** Owners are found by their names: the server gives objects uids of its own. */
export const createObjects = async (client: KubeClient, objects: readonly unknown[]): Promise<void> => {
  const uids = new Map<string, string>();
  for (const object of objects as readonly ObjectInput[]) {
    const resource = RESOURCES.find(({ kind }) => kind === object.kind);
    if (resource === undefined) throw new Error(`no resource for ${object.kind}`);
    const { uid, ownerReferences = [], ...metadata } = object.metadata;
    const owners = ownerReferences.map((owner) => ({ ...owner, uid: uids.get(owner.uid) ?? owner.uid }));
    const spec = resource === PODS ? { ...(object['spec'] as object), containers: CONTAINERS } : object['spec'];
    const made = await client.create(resource, {
      ...object,
      metadata: { ...metadata, ...(owners.length > 0 && { ownerReferences: owners }) },
      ...(spec !== undefined && { spec }),
    });
    if (uid !== undefined) uids.set(uid, made.metadata.uid);
    if (object['status'] === undefined) continue;
    const body = { status: object['status'] };
    await client.patch(resource, made.metadata, { type: 'merge', body }, { subresource: 'status' });
  }
};

const CONTAINERS = [{ name: 'main', image: 'none' }];
