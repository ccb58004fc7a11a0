/** What a bundle has of the API server: objects of networks, and of the namespaces that have one. */
import { stringify } from 'yaml';
import { PRIMARY_NETWORK_LABEL } from '../../api/names.ts';
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  IPAM_CLAIMS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  NETWORK_ID_POOLS,
  NODE_NETWORK_REPORTS,
  USER_DEFINED_NETWORKS,
} from '../../api/resources.ts';
import { listAll } from '../../kube/reflector/list-all.ts';
import {
  DAEMON_SETS,
  DEPLOYMENTS,
  ENDPOINT_SLICES,
  EVENTS,
  LEASES,
  NAMESPACES,
  NODES,
  PODS,
  SERVICES,
} from '../../kube/resources.ts';
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts';
import type { Part } from './collect.ts';
import { redactObject } from './redact.ts';

type Reader = Pick<KubeClient, 'list' | 'request'>;

/** @param programs where agents and cluster manager are @throws KubeError when namespaces may not be listed */
export const clusterParts = async (client: Reader, programs: string): Promise<readonly Part[]> => {
  const namespaces = [...new Set([...(await tenantsOf(client)), programs])].sort();
  const all = (resource: ResourceType): Part => part(client, resource, `cluster/${resource.plural}.yaml`, undefined);
  return [
    {
      path: 'cluster/version.yaml',
      read: async () => stringify(await client.request({ method: 'GET', path: '/version' })),
    },
    ...OF_CLUSTER.map(all),
    ...OF_PROGRAMS.map((resource) => part(client, resource, `programs/${resource.plural}.yaml`, programs)),
    ...namespaces.flatMap((namespace) =>
      OF_TENANTS.map((resource) =>
        part(client, resource, `namespaces/${namespace}/${resource.plural}.yaml`, namespace),
      ),
    ),
    part(client, EVENTS, 'namespaces/default/events.yaml', 'default'),
  ];
};

const OF_CLUSTER: readonly ResourceType[] = [
  ...[USER_DEFINED_NETWORKS, CLUSTER_USER_DEFINED_NETWORKS, NETWORK_ATTACHMENT_DEFINITIONS, IPAM_CLAIMS],
  ...[NETWORK_ID_POOLS, NODE_NETWORK_REPORTS, NODES, NAMESPACES],
];
const OF_PROGRAMS: readonly ResourceType[] = [DAEMON_SETS, DEPLOYMENTS, LEASES];
const OF_TENANTS: readonly ResourceType[] = [PODS, SERVICES, ENDPOINT_SLICES, EVENTS];

/** Those with the label of a primary network, or with a network of whatever role. */
const tenantsOf = async (client: Reader): Promise<readonly string[]> => {
  const [labelled, nads] = await Promise.all([
    objectsOf(client, NAMESPACES, undefined),
    objectsOf(client, NETWORK_ATTACHMENT_DEFINITIONS, undefined).catch(() => []),
  ]);
  return [
    ...labelled
      .filter(({ metadata }) => metadata.labels?.[PRIMARY_NETWORK_LABEL] !== undefined)
      .map(({ metadata }) => metadata.name),
    ...nads.flatMap(({ metadata }) => metadata.namespace ?? []),
  ];
};

const part = (client: Reader, resource: ResourceType, path: string, namespace: string | undefined): Part => ({
  path,
  read: async () => {
    const found = await objectsOf(client, resource, namespace);
    const items = found.map((object) => redactObject({ kind: resource.kind, ...object })).map(withoutTemplate);
    return stringify(items, { lineWidth: 0, aliasDuplicateObjects: false });
  },
});

/** A workload's template has what its pods have: their environment and arguments. */
const withoutTemplate = (object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  if (object['kind'] !== DAEMON_SETS.kind && object['kind'] !== DEPLOYMENTS.kind) return object;
  const { spec: _, ...rest } = object;
  return rest;
};

const PAGE_SIZE = 500;

const objectsOf = async (
  client: Reader,
  resource: ResourceType,
  namespace: string | undefined,
): Promise<readonly KubeObject[]> => {
  const found: KubeObject[] = [];
  await listAll(
    client,
    resource,
    { namespace, pageSize: PAGE_SIZE },
    (object) => found.push(object),
    () => found.splice(0),
  );
  return found;
};
