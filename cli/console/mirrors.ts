/**
 * Watches what the console shows, with the rights of its user: a mirror for each kind, in memory only. What may not be listed any
 * more is not shown, and of what the server has not sent the page says how old it is: no news is no sign that all is well.
 */
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  IPAM_CLAIMS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  NODE_NETWORK_REPORTS,
  USER_DEFINED_NETWORKS,
} from '../../api/resources.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import { readLease } from '../../kube/lease/lease-record.ts';
import { createOutage } from '../../kube/outage.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { Reflector, ReflectorObservation, ReflectorTimings } from '../../kube/reflector/types.ts';
import { ENDPOINT_SLICES, LEASES, NAMESPACES, NODES, PODS, SERVICES } from '../../kube/resources.ts';
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts';
import { PROGRAMS_NAMESPACE } from '../cluster/cluster-command.ts';
import { CLUSTER_MANAGER_LEASE } from '../cluster/read-cluster.ts';
import { type Leader, type Snapshot, snapshotOf, type Unread } from '../cluster/snapshot.ts';
import type { SourceState } from './types.ts';

export interface MirrorsOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'watch' | 'request'>;
  /** Undefined: all. What belongs to no namespace is watched in any case. */
  readonly namespace?: string | undefined;
  /** Objects, or what is known of them, have changed. */
  readonly onChange: () => void;
  readonly clock?: Clock | undefined;
  readonly timings?: Partial<ReflectorTimings> | undefined;
}

export interface Mirrors {
  /** Until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  snapshot(): Snapshot;
  objects(resource: ResourceType): readonly KubeObject[];
  sources(): readonly SourceState[];
  /** Every kind has been read, or is known not to be readable. */
  readonly isComplete: boolean;
}

/** Access that was withdrawn ends a watch only when it is renewed. */
const TIMINGS: Partial<ReflectorTimings> = { watchMinSeconds: 60, watchMaxSeconds: 120 };

export const createMirrors = (options: MirrorsOptions): Mirrors => {
  const { namespace, clock = systemClock } = options;
  const outage = createOutage({ clock });
  const mirrors = new Map(
    SOURCES.map((source) => [source.resource, createSource(source, { ...options, clock, outage })]),
  );
  const all = [...mirrors.values()];
  return {
    run: async (signal) => {
      await Promise.all(all.map((one) => one.run(signal)));
    },
    snapshot: () =>
      snapshotOf({
        objects: all.flatMap((one) => (one.resource === LEASES ? [] : one.objects())),
        ...{ namespace, now: clock.wall(), leader: leaderOf(mirrors.get(LEASES)) },
        unread: all.flatMap((one) => one.unread() ?? []).sort((a, b) => (a.what < b.what ? -1 : 1)),
      }),
    objects: (resource) => mirrors.get(resource)?.objects() ?? [],
    sources: () => all.map((one) => one.state()),
    get isComplete() {
      return all.every((one) => one.isKnown());
    },
  };
};

interface SourceType {
  readonly resource: ResourceType;
  /** A cluster may lack the kind: then there are none. */
  readonly optional?: boolean;
}

const SOURCES: readonly SourceType[] = [
  { resource: NAMESPACES },
  { resource: USER_DEFINED_NETWORKS },
  { resource: CLUSTER_USER_DEFINED_NETWORKS },
  { resource: NETWORK_ATTACHMENT_DEFINITIONS },
  { resource: NODES },
  { resource: NODE_NETWORK_REPORTS, optional: true },
  { resource: PODS },
  { resource: IPAM_CLAIMS },
  { resource: SERVICES },
  { resource: ENDPOINT_SLICES },
  { resource: LEASES },
];

interface Source {
  readonly resource: ResourceType;
  run(signal: AbortSignal): Promise<void>;
  objects(): readonly KubeObject[];
  state(): SourceState;
  /** Undefined: it can be read. */
  unread(): Unread | undefined;
  isKnown(): boolean;
}

interface SourceOptions extends MirrorsOptions {
  readonly clock: Clock;
  readonly outage: ReturnType<typeof createOutage>;
}

const createSource = ({ resource, optional = false }: SourceType, options: SourceOptions): Source => {
  const { client, namespace, clock, outage, onChange } = options;
  let current: Pick<SourceState, 'state' | 'since' | 'message'> = { state: 'loading', since: clock.wall() };
  /** Of who may get their namespace, and not list them. */
  let single: KubeObject | undefined;
  const selection = selectionOf(resource, namespace);
  const enter = (state: SourceState['state'], message?: string): void => {
    if (current.state === state && current.message === message) return;
    current = { state, since: clock.wall(), message };
    onChange();
  };
  const reflector: Reflector<KubeObject> = createReflector({
    ...{ client, resource, optional, clock, outage, ...selection },
    timings: { ...TIMINGS, ...options.timings },
    project: (object) => lean(object, resource),
    observe: (observation) => {
      const next = stateAfter(observation, resource);
      if (next?.state === 'forbidden' && resource === NAMESPACES && namespace !== undefined) void getOwn(namespace);
      if (next !== undefined) enter(next.state, next.message);
    },
  });
  reflector.subscribe(onChange);
  const getOwn = async (name: string): Promise<void> => {
    single = await client.get(NAMESPACES, { name }).then(
      (object) => lean(object, NAMESPACES),
      () => undefined,
    );
    onChange();
  };
  const isHidden = (): boolean => current.state === 'forbidden' || current.state === 'absent';
  return {
    resource,
    run: reflector.run,
    objects: () => (isHidden() ? (single === undefined ? [] : [single]) : [...reflector.values()]),
    state: () => ({ resource: nameOf(resource), ...current, heardAt: heardAt(reflector, clock) }),
    unread: () => {
      if (!isHidden() || single !== undefined) return undefined;
      // Without reports there is an older release, and nothing that is hidden.
      if (optional && current.state === 'absent') return undefined;
      const where = selection.namespace === undefined ? '' : ` of namespace ${selection.namespace}`;
      return { resource: resource.plural, what: `${nameOf(resource)}${where}`, why: current.message ?? current.state };
    },
    isKnown: () => current.state !== 'loading' && (reflector.synced || current.state !== 'lost'),
  };
};

const selectionOf = (resource: ResourceType, namespace: string | undefined) => {
  if (resource === LEASES) {
    return { namespace: PROGRAMS_NAMESPACE, fieldSelector: `metadata.name=${CLUSTER_MANAGER_LEASE}` };
  }
  if (resource === NAMESPACES) return namespace === undefined ? {} : { fieldSelector: `metadata.name=${namespace}` };
  return resource.namespaced ? { namespace } : {};
};

/** In lists the server leaves out what every item is. Who wrote which field is of no use here, and often half of an object. */
const lean = (object: KubeObject, { group, version, kind }: ResourceType): KubeObject => {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata };
};

const nameOf = ({ group, plural }: ResourceType): string => (group === '' ? plural : `${plural}.${group}`);

const heardAt = (reflector: Pick<Reflector<KubeObject>, 'silenceMs'>, clock: Clock): number | undefined => {
  const silence = reflector.silenceMs();
  return Number.isFinite(silence) ? Math.round(clock.wall() - silence) : undefined;
};

/** Undefined: as before. */
const stateAfter = (
  observation: ReflectorObservation,
  resource: ResourceType,
): Pick<SourceState, 'state' | 'message'> | undefined => {
  switch (observation.kind) {
    case 'watch-started':
    case 'event':
      return { state: 'live' };
    case 'absent':
      return { state: 'absent', message: NOT_SERVED };
    case 'watch-ended':
      return observation.reason === 'idle' ? { state: 'lost', message: 'the API server is silent' } : undefined;
    case 'failed':
      return failure(observation.error, observation.phase, resource);
    default:
      return undefined;
  }
};

const NOT_SERVED = 'the API server does not serve this kind: ovn-udn is not installed';

const failure = (
  error: unknown,
  verb: 'list' | 'watch',
  resource: ResourceType,
): Pick<SourceState, 'state' | 'message'> => {
  const what = resource === LEASES ? 'the Lease' : 'them';
  if (isForbidden(error)) return { state: 'forbidden', message: `you may not ${verb} ${what}` };
  if (isNotFound(error)) return { state: 'absent', message: NOT_SERVED };
  return { state: 'lost', message: messageOf(error) };
};

/** Undefined: it may not be read. */
const leaderOf = (source: Source | undefined): Leader | undefined => {
  if (source === undefined || source.unread() !== undefined || !source.isKnown()) return undefined;
  const [lease] = source.objects();
  if (lease === undefined) return 'absent';
  const { holder, renewTime, durationMs } = readLease(lease);
  return { holder, renewedAt: Date.parse(renewTime ?? '') || 0, durationMs };
};
