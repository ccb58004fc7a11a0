/** Reads what a snapshot needs. What the user may not read is named, and the rest is read all the same. */
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  IPAM_CLAIMS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  NETWORK_ID_POOLS,
  NODE_NETWORK_REPORTS,
  USER_DEFINED_NETWORKS,
} from '../../api/resources.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import { readLease } from '../../kube/lease/lease-record.ts';
import { listAll } from '../../kube/reflector/list-all.ts';
import { ENDPOINT_SLICES, EVENTS, LEASES, NAMESPACES, NODES, PODS, SERVICES } from '../../kube/resources.ts';
import type { KubeClient, ResourceType } from '../../kube/types.ts';
import { type Leader, type Snapshot, snapshotOf, type Unread } from './snapshot.ts';

export interface ReadOptions {
  /** Absent: all. What belongs to no namespace is read in any case. */
  readonly namespace?: string | undefined;
  /** Of pods, or of Services. */
  readonly selector?: string | undefined;
  /** Services and their EndpointSlices, and not pods and what only they need. */
  readonly services?: boolean;
  /** With `services`: also pods, which they select. */
  readonly selectedPods?: boolean;
  /** What is said of ids of deleted networks, too. */
  readonly reservations?: boolean;
  /** What the agents report of their nodes; `reservations` has it, too. */
  readonly reports?: boolean;
  /** Read its Events, too: `involvedObject.name=web`. */
  readonly eventsOf?: { readonly namespace: string; readonly name: string } | undefined;
  /** Where the cluster manager's Lease is. Absent: nobody asks. */
  readonly programs?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export const CLUSTER_MANAGER_LEASE = 'udn-cluster-manager';

/** @throws KubeError when the server cannot be reached, or does not know who asks */
export const readCluster = async (
  client: Pick<KubeClient, 'get' | 'list'>,
  {
    namespace,
    selector,
    services = false,
    selectedPods = false,
    reservations = false,
    reports = reservations,
    eventsOf,
    programs,
    now,
  }: ReadOptions,
): Promise<Snapshot> => {
  const objects: unknown[] = [];
  const unread: Unread[] = [];
  const list = (resource: ResourceType, options: Selection = {}): Promise<void> =>
    readList(client, resource, options, objects, unread);
  const [leader] = await Promise.all([
    programs === undefined ? undefined : readLeader(client, programs, unread),
    readNamespaces(client, namespace, objects, unread),
    list(USER_DEFINED_NETWORKS, { namespace }),
    list(CLUSTER_USER_DEFINED_NETWORKS),
    list(NETWORK_ATTACHMENT_DEFINITIONS, { namespace }),
    ...(services
      ? [list(SERVICES, { namespace, labelSelector: selector }), list(ENDPOINT_SLICES, { namespace })]
      : [list(IPAM_CLAIMS, { namespace }), list(NODES), list(PODS, { namespace, labelSelector: selector })]),
    ...(services && selectedPods ? [list(PODS, { namespace })] : []),
    ...(reservations ? [list(NETWORK_ID_POOLS)] : []),
    ...(reports ? [list(NODE_NETWORK_REPORTS)] : []),
    eventsOf === undefined
      ? undefined
      : list(EVENTS, { namespace: eventsOf.namespace, fieldSelector: `involvedObject.name=${eventsOf.name}` }),
  ]);
  unread.sort((a, b) => (a.what < b.what ? -1 : 1));
  return snapshotOf({ objects, unread, leader, now, namespace, areReportsAsked: reports });
};

interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

const PAGE_SIZE = 500;

const readList = async (
  client: Pick<KubeClient, 'list'>,
  resource: ResourceType,
  selection: Selection,
  objects: unknown[],
  unread: Unread[],
): Promise<void> => {
  const found: unknown[] = [];
  const { group, version, kind } = resource;
  // In lists the server leaves out what every item is.
  const typed = { apiVersion: group === '' ? version : `${group}/${version}`, kind };
  try {
    await listAll(
      client,
      resource,
      { ...selection, pageSize: PAGE_SIZE },
      (object) => found.push({ ...typed, ...object }),
      () => found.splice(0),
    );
    objects.push(...found);
  } catch (error) {
    // A cluster of before. Of reports it matters: without them nothing is known of nodes.
    if (isNotFound(error) && resource === NETWORK_ID_POOLS) return;
    unread.push(unreadBecause(error, resource.plural, whatOf(resource, selection.namespace), 'list'));
  }
};

/** Who may see one namespace only may still get it. */
const readNamespaces = async (
  client: Pick<KubeClient, 'get' | 'list'>,
  namespace: string | undefined,
  objects: unknown[],
  unread: Unread[],
): Promise<void> => {
  if (namespace === undefined) return readList(client, NAMESPACES, {}, objects, unread);
  try {
    objects.push({ ...(await client.get(NAMESPACES, { name: namespace })), kind: 'Namespace' });
  } catch (error) {
    if (isNotFound(error)) return;
    unread.push(unreadBecause(error, NAMESPACES.plural, `namespace ${namespace}`, 'get'));
  }
};

const readLeader = async (
  client: Pick<KubeClient, 'get'>,
  namespace: string,
  unread: Unread[],
): Promise<Leader | undefined> => {
  try {
    const { holder, renewTime, durationMs } = readLease(
      await client.get(LEASES, { namespace, name: CLUSTER_MANAGER_LEASE }),
    );
    return { holder, renewedAt: Date.parse(renewTime ?? '') || 0, durationMs };
  } catch (error) {
    if (isNotFound(error)) return 'absent';
    unread.push(unreadBecause(error, LEASES.plural, `lease ${namespace}/${CLUSTER_MANAGER_LEASE}`, 'get'));
    return undefined;
  }
};

const NOT_SERVED = 'the API server does not serve this kind: ovn-udn is not installed, or its definition was deleted';

/** @throws what says nothing of this one resource, but of the server */
const unreadBecause = (error: unknown, resource: string, what: string, verb: 'get' | 'list'): Unread => {
  if (isForbidden(error)) return { resource, what, why: `you may not ${verb} ${verb === 'get' ? 'it' : 'them'}` };
  if (isNotFound(error)) return { resource, what, why: NOT_SERVED, isMissing: true };
  throw error;
};

const whatOf = ({ group, plural }: ResourceType, namespace: string | undefined): string =>
  `${group === '' ? plural : `${plural}.${group}`}${namespace === undefined ? '' : ` of namespace ${namespace}`}`;
