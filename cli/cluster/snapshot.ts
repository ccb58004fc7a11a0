/**
 * What the API server says, read into the facts that the cluster manager works with. Pure: a snapshot is made from objects,
 * so that whatever evaluates it can be tested with objects alone.
 */
import { ApiError, describeFinding } from '../../api/errors.ts';
import { parseNetworkIdPool, type RetiredEntry } from '../../api/network-id-pool.ts';
import { describeRef, refOf } from '../../api/object.ts';
import { type ClaimFacts, claimFacts } from '../../cluster-manager/facts/claim-facts.ts';
import { type NadFacts, nadFacts } from '../../cluster-manager/facts/nad-facts.ts';
import { type NamespaceFacts, namespaceFacts } from '../../cluster-manager/facts/namespace-facts.ts';
import { cudnFacts, type NetworkFacts, udnFacts } from '../../cluster-manager/facts/network-facts.ts';
import { usedNads } from '../../cluster-manager/facts/pod-facts.ts';
import { type ReportFacts, reportFacts } from '../../cluster-manager/facts/report-facts.ts';
import { type EventState, eventState } from './event-state.ts';
import { type NodeState, nodeState } from './node-state.ts';
import { type PodState, podState } from './pod-state.ts';
import { type ServiceState, serviceState } from './service-state.ts';
import { type SliceState, sliceState } from './slice-state.ts';

/** Something that could not be read: what is said about it is not known to be true. */
export interface Unread {
  /** Plural of the kind: `nodes`. */
  readonly resource: string;
  /** `nodes`, `pods of namespace red`. */
  readonly what: string;
  /** `you may not list them` */
  readonly why: string;
  /** The server does not have the kind. */
  readonly isMissing?: true;
}

/** What the Lease of the cluster manager says; `absent`: nobody ever held it. */
export type Leader = 'absent' | { readonly holder: string; readonly renewedAt: number; readonly durationMs: number };

export interface Snapshot {
  readonly networks: ReadonlyMap<string, NetworkFacts>;
  readonly nads: ReadonlyMap<string, NadFacts>;
  readonly namespaces: ReadonlyMap<string, NamespaceFacts>;
  readonly nodes: ReadonlyMap<string, NodeState>;
  readonly pods: ReadonlyMap<string, PodState>;
  readonly claims: ReadonlyMap<string, ClaimFacts>;
  /** Ids of deleted networks that nodes may still have; empty also when nobody asked. */
  readonly retired: ReadonlyMap<number, RetiredEntry>;
  readonly reports: readonly ReportFacts[];
  /** A node without a report among them has not reported. */
  readonly areReportsAsked: boolean;
  readonly events: readonly EventState[];
  readonly services: readonly ServiceState[];
  /** Undefined: it could not be read, or was not asked for. */
  readonly leader: Leader | undefined;
  readonly unread: readonly Unread[];
  /** Objects that are none of their kind, and why: they take part in nothing. */
  readonly unusable: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Absent: all namespaces were read. */
  readonly namespace: string | undefined;
  readonly nadsIn: (namespace: string) => readonly NadFacts[];
  /** NADs that have the uid as an owner. */
  readonly nadsOwnedBy: (uid: string) => readonly NadFacts[];
  /** Active pods that use a NAD, or may use it because their annotation cannot be read. */
  readonly podsUsing: (nadKey: string) => readonly PodState[];
  /** EndpointSlices of a Service, mirrors too. @param service `namespace/name` */
  readonly slicesOf: (service: string) => readonly SliceState[];
}

export interface SnapshotInput {
  /** With their kinds. */
  readonly objects: Iterable<unknown>;
  readonly now: number;
  readonly namespace?: string | undefined;
  readonly leader?: Leader | undefined;
  readonly areReportsAsked?: boolean;
  readonly unread?: readonly Unread[];
}

/** Key of `Snapshot.networks`. */
export const networkId = (kind: NetworkFacts['kind'], key: string): string => `${kind}/${key}`;

export const snapshotOf = ({
  objects,
  now,
  namespace,
  leader,
  areReportsAsked = false,
  unread = [],
}: SnapshotInput): Snapshot => {
  const { slices, ...facts } = readFacts(objects);
  const { nads, pods } = facts;
  const slicesByService = Map.groupBy(slices, ({ service }) => service);
  const nadsByNamespace = Map.groupBy(nads.values(), ({ metadata }) => metadata.namespace);
  const nadsByOwner = groupEach(nads.values(), ({ metadata }) => metadata.ownerReferences.map(({ uid }) => uid));
  const podsByNad = groupEach(pods.values(), usedNads);
  return {
    ...facts,
    now,
    namespace,
    leader,
    areReportsAsked,
    unread,
    nadsIn: (name) => nadsByNamespace.get(name) ?? [],
    nadsOwnedBy: (uid) => nadsByOwner.get(uid) ?? [],
    podsUsing: (nadKey) => {
      const [owner] = nadKey.split('/');
      const isPrimary = nads.get(nadKey)?.conf?.role === 'primary';
      const saying = (podsByNad.get(nadKey) ?? []).filter((pod) => !isPrimary || pod.namespace === owner);
      return [...saying, ...(podsByNad.get(`${owner}/*`) ?? [])].sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    slicesOf: (service) => slicesByService.get(service) ?? [],
  };
};

const readFacts = (objects: Iterable<unknown>) => {
  const networks = new Map<string, NetworkFacts>();
  const nads = new Map<string, NadFacts>();
  const namespaces = new Map<string, NamespaceFacts>();
  const nodes = new Map<string, NodeState>();
  const pods = new Map<string, PodState>();
  const claims = new Map<string, ClaimFacts>();
  const events: EventState[] = [];
  const services: ServiceState[] = [];
  const slices: SliceState[] = [];
  const retired = new Map<number, RetiredEntry>();
  const reports: ReportFacts[] = [];
  const unusable: string[] = [];
  const addNetwork = (facts: NetworkFacts) => networks.set(networkId(facts.kind, facts.key), facts);
  const add: Readonly<Record<string, (object: unknown) => unknown>> = {
    NetworkIdPool: (object) => {
      for (const entry of parseNetworkIdPool(object).status.retired) retired.set(entry.id, entry);
    },
    NodeNetworkReport: (object) => reports.push(reportFacts(object)),
    UserDefinedNetwork: (object) => addNetwork(udnFacts(object)),
    ClusterUserDefinedNetwork: (object) => addNetwork(cudnFacts(object)),
    NetworkAttachmentDefinition: (object) => put(nads, inForce(nadFacts(object)), ({ key }) => key),
    Namespace: (object) => put(namespaces, namespaceFacts(object), ({ name }) => name),
    Node: (object) => put(nodes, nodeState(object), ({ name }) => name),
    Pod: (object) => put(pods, podState(object), ({ key }) => key),
    IPAMClaim: (object) => put(claims, claimFacts(object), ({ key }) => key),
    Event: (object) => events.push(eventState(object)),
    Service: (object) => services.push(serviceState(object)),
    EndpointSlice: (object) => slices.push(...sliceState(object)),
  };
  for (const object of objects) {
    const kind = kindOf(object);
    try {
      add[kind]?.(object);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      unusable.push(`${describeRef(refOf(kind, object))}: ${describeFinding(error)}`);
    }
  }
  return { networks, nads, namespaces, nodes, pods, claims, retired, reports, events, services, slices, unusable };
};

/** An edit of a NAD that was written by hand is followed when the cluster manager says so: until then pods have what it adopted. */
const inForce = (nad: NadFacts): NadFacts =>
  nad.conf === undefined || nad.adopted === undefined ? nad : { ...nad, conf: nad.adopted };

const put = <Facts>(map: Map<string, Facts>, facts: Facts, keyOf: (facts: Facts) => string): void => {
  map.set(keyOf(facts), facts);
};

const kindOf = (object: unknown): string =>
  typeof object === 'object' && object !== null && 'kind' in object ? String(object.kind) : '';

const groupEach = <Item>(items: Iterable<Item>, keysOf: (item: Item) => readonly string[]): Map<string, Item[]> => {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    for (const key of keysOf(item)) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [item]);
      else group.push(item);
    }
  }
  return groups;
};
