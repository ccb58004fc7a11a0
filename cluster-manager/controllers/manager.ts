/** The cluster manager: mirrors, state, one queue per kind of work. */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import type { Clock } from '../../base/clock.ts';
import { systemClock } from '../../base/clock.ts';
import type { EventRecorder } from '../../kube/events/types.ts';
import { createOutage, type Outage } from '../../kube/outage.ts';
import type { WorkQueue, WorkQueueObservation } from '../../kube/queue/types.ts';
import { createWorkQueue } from '../../kube/queue/work-queue.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Writer, WriterObservation } from '../../kube/writer/types.ts';
import { createWriter } from '../../kube/writer/writer.ts';
import type { IdRecord } from '../allocation/id-record.ts';
import type { NetworkLimits } from '../allocation/network-room.ts';
import type { ReportFacts } from '../facts/report-facts.ts';
import { FIELD_MANAGER } from '../field-manager.ts';
import { ClusterState, type Problem } from '../state/cluster-state.ts';
import { createAddressWaiters } from './address-waiters.ts';
import { reportConflicts } from './allocation-conflicts.ts';
import { createMirrors, type MirrorObservation, type Mirrors } from './caches.ts';
import { claimReconciler } from './claim-controller.ts';
import { firewallNewsReconciler, firewallReconciler, followFirewalls } from './firewall-controller.ts';
import { IdKeeper, type IdObservation } from './id-keeper.ts';
import { adoptPool, type FoundPool, heldMessage, whenFound } from './id-pool.ts';
import { nadReconciler } from './nad-controller.ts';
import { createNadCreations } from './nad-creations.ts';
import { networkReconciler } from './network-controller.ts';
import { readinessDelayMs, readinessReconciler, usageDelayMs, usageReconciler } from './network-usage.ts';
import { createNetworkViews } from './network-views.ts';
import { nodeReconciler } from './node-controller.ts';
import { createOwnWrites } from './own-writes.ts';
import { podReconciler } from './pod-controller.ts';
import { createPodUsers } from './pod-users.ts';
import { createPolicies, type Policies } from './policies.ts';
import { createProblemReporter, type ProblemReporter } from './problem-reporter.ts';
import { createReportFreshness } from './report-freshness.ts';
import { silenceReconciler } from './silence-controller.ts';
import { sliceReconciler } from './slice-controller.ts';
import { stateSources } from './state-sources.ts';
import { followCaches, onFreshness, touch } from './triggers.ts';
import type { ControllerContext, Enqueue, Reconcile } from './types.ts';
import { createUnanswered, type Unanswered } from './unanswered.ts';
import { createWaitingPods, type WaitingPods } from './waiting-pods.ts';

export interface ManagerOptions {
  readonly client: KubeClient;
  readonly events: EventRecorder;
  readonly cluster: ClusterConfig;
  /** Default: as many networks as there are ids. */
  readonly limits?: NetworkLimits | undefined;
  /** Namespace of DNSNameResolvers; absent: wildcards of domain names are not followed. */
  readonly dnsNameResolver?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  /** Called with everything that operators want to see. */
  readonly observe?: ((observation: ManagerObservation) => void) | undefined;
}

export type ControllerName =
  | 'network'
  | 'usage'
  | 'readiness'
  | 'firewall'
  | 'firewall-news'
  | 'nad'
  | 'node'
  | 'silence'
  | 'pod'
  | 'claim'
  | 'slice'
  | 'wildcard';

export type ManagerObservation =
  | { readonly source: 'mirror'; readonly about: MirrorObservation }
  | { readonly source: 'writer'; readonly about: WriterObservation }
  | { readonly source: 'queue'; readonly controller: ControllerName; readonly about: WorkQueueObservation }
  | { readonly source: 'ids'; readonly about: IdObservation }
  /** What existed has been read and noted; from here on things are given out. */
  | { readonly source: 'recovered'; readonly problems: readonly Problem[] }
  /** All of what existed has been worked on; from here on there is only what happens. */
  | { readonly source: 'caught-up' };

export interface Manager {
  /** Works until `signal` aborts and what is under way has ended. To be called once: by the leader. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when everything that was known has been worked on; what waits for a retry does not count. */
  idle(): Promise<void>;
  /** Undefined until what existed has been read. */
  readonly state: ClusterState | undefined;
  readonly mirrors: Mirrors;
  readonly waiting: Pick<WaitingPods, 'counts'>;
}

export const createManager = (options: ManagerOptions): Manager => {
  const { client, events, cluster, limits, clock = systemClock, random, observe = () => {} } = options;
  const outage = createOutage({ clock, random });
  const observeMirror = (about: MirrorObservation): void => observe({ source: 'mirror', about });
  const mirrors = createMirrors(client, observeMirror, outage);
  const [unanswered, waiting] = [createUnanswered(clock), createWaitingPods()];
  const writer = openWriter({ client, outage, clock, random }, (about) => {
    unanswered.follow(about);
    observe({ source: 'writer', about });
  });
  let state: ClusterState | undefined;
  let queues: Queues | undefined;
  let ids: IdKeeper | undefined;

  const start = (found: FoundPool, policies: Policies, signal: AbortSignal): Queues => {
    const recovered = recoverState(mirrors, cluster, limits, found);
    state = recovered.state;
    if (recovered.lost !== undefined) observe({ source: 'ids', about: { kind: 'lost', error: recovered.lost } });
    observe({ source: 'recovered', problems: recovered.problems });
    const problems = createProblemReporter(events);
    reportConflicts(problems, recovered.problems);
    const keepIds = (came: () => void): IdKeeper => {
      const reports = (): ReportFacts[] => liveReports(mirrors.caches);
      const about = (one: IdObservation): void => observe({ source: 'ids', about: one });
      const record = recovered.state.registry.ids;
      const onHeld = heldReporter(problems, mirrors.caches, record);
      ids = new IdKeeper({ client, clock, reports, record, found, came, onHeld, observe: about }, signal);
      return ids;
    };
    return startControllers(
      { client, writer, problems, clock, caches: mirrors.caches, state, waiting, ownWrites: createOwnWrites() },
      { unanswered, keepIds, outage, ...policies, random: random ?? Math.random, signal },
      queueMaker({ clock, random, observe }),
    );
  };

  const idsFailed = (error: unknown): void => observe({ source: 'ids', about: { kind: 'failed', error } });
  const idle = async (): Promise<void> => {
    if (queues === undefined) return;
    const all = Object.values(queues);
    do {
      for (const queue of all) await queue.idle();
      await writer.idle();
      await ids?.idle();
    } while (all.some((queue) => queue.counts().queued + queue.counts().working > 0));
  };

  return {
    mirrors,
    waiting,
    get state() {
      return state;
    },
    idle,
    run: async (signal) => {
      const problems = createProblemReporter(events);
      const common = { client, outage, clock, random, problems, observe: observeMirror };
      const policies = createPolicies({ ...common, writer }, options.dnsNameResolver);
      const mirroring = Promise.all([mirrors.run(signal), policies.run(signal)]);
      try {
        await mirrors.whenSynced(signal);
        queues = start(await whenFound({ client, clock, onError: idsFailed }, signal), policies, signal);
        const working = Promise.all(Object.values(queues).map((queue) => queue.run(signal)));
        await Promise.race([idle(), working]);
        if (!signal.aborted) observe({ source: 'caught-up' });
        await working;
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        await mirroring;
      }
    },
  };
};

const openWriter = (
  { client, clock, random, outage }: Pick<ManagerOptions, 'client' | 'clock' | 'random'> & { readonly outage: Outage },
  observe: (about: WriterObservation) => void,
): Writer =>
  createWriter({
    ...{ client, clock, random, outage, observe },
    fieldManager: FIELD_MANAGER,
    concurrency: CONCURRENCY,
    perNamespace: PER_LANE,
    giveUpAfterMs: GIVE_UP_AFTER_MS,
  });

const queueMaker =
  ({
    clock,
    random,
    observe,
  }: Pick<ManagerOptions, 'clock' | 'random'> & { observe: (about: ManagerObservation) => void }) =>
  (controller: ControllerName, handle: Reconcile): WorkQueue =>
    createWorkQueue({
      handle,
      concurrency: controller === 'usage' ? PER_LANE : CONCURRENCY,
      laneOf,
      perLane: controller === 'usage' ? 1 : PER_LANE,
      backoffMaxMs: BACKOFF_MAX_MS,
      pace: PACE,
      clock,
      random,
      observe: (about) => observe({ source: 'queue', controller, about }),
    });

/** In one turn of the event loop: nothing changes between what is recovered and what is followed from then on. */
const recoverState = (
  { caches }: Mirrors,
  cluster: ClusterConfig,
  limits: NetworkLimits | undefined,
  found: FoundPool,
): { state: ClusterState; problems: readonly Problem[]; lost: unknown } => {
  const state = new ClusterState(cluster, { limits, sources: stateSources(caches) });
  const lost = adoptPool(state.registry.ids, found, [...caches.reports.values()]);
  const problems = state.recover({
    nads: [...caches.nads.values()],
    nodes: [...caches.nodes.values()],
    pods: [...caches.pods.values()],
    claims: [...caches.claims.values()],
    labelsOf: (namespace) => caches.namespaces.get(namespace)?.labels,
  });
  return { state, problems, lost };
};

/** Reports to the owner of a Node that it keeps ids from others, and once more when it does not. */
const heldReporter = (problems: ProblemReporter, { nodes }: Mirrors['caches'], record: IdRecord) => {
  let reported = new Set<string>();
  return (held: ReadonlyMap<string, readonly number[]>): void => {
    for (const name of new Set([...reported, ...held.keys()])) {
      const ids = held.get(name) ?? [];
      const regarding = { apiVersion: 'v1', kind: 'Node', name, uid: nodes.get(name)?.uid };
      problems.report(regarding, 'NetworkIdsReserved', ids.length === 0 ? [] : [heldMessage(record, ids)]);
    }
    reported = new Set(held.keys());
  };
};

/** The report of a Node that is gone is about to go. */
const liveReports = ({ reports, nodes }: Mirrors['caches']): ReportFacts[] =>
  [...reports.values()].filter(({ node }) => nodes.has(node));

/** Keys in work of one queue, and requests under way. */
const CONCURRENCY = 16;

/**
 * Of these, one tenant's: where each write takes long (an admission webhook that does not answer) or fails, the others'
 * turn comes as ever.
 */
const PER_LANE = 4;

/** What fails for longer makes room: the queue retries it with backoff, and its owner gets an event meanwhile. */
const GIVE_UP_AFTER_MS = 2000;

/** So long at most it takes after the end of whatever made it fail. */
const BACKOFF_MAX_MS = 30_000;

/** An object that changes all the time is worked on, and reported, twice a second at most. */
const PACE = { burst: 20, refillMs: 500 };

/** A tenant's work holds up nobody but the tenant. */
const laneOf = (key: string): string => {
  const [first = '', second = '', third] = key.split('/');
  return third === undefined && first !== 'ClusterUserDefinedNetwork' ? first : second;
};

type Queues = Readonly<Record<Exclude<ControllerName, 'wildcard'>, WorkQueue>> & { readonly wildcard?: WorkQueue };

interface Beside extends Policies {
  readonly unanswered: Unanswered;
  /** @param came called when ids can be assigned that could not be before */
  readonly keepIds: (came: () => void) => IdKeeper;
  readonly outage: Outage;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

const startControllers = (
  base: Omit<ControllerContext, 'enqueue' | 'ids'>,
  { unanswered, keepIds, outage, firewalls, wildcards, whenSynced, random, signal }: Beside,
  createQueue: (controller: ControllerName, reconcile: Reconcile) => WorkQueue,
): Queues => {
  const { udns, cudns } = base.caches;
  const enqueue: Enqueue = {
    network: (key) => queues.network.add(key),
    usage: (key) => queues.usage.addAfter(key, usageDelayMs(udns.size + cudns.size, random)),
    usageNow: (key) => queues.usage.add(key),
    readiness: (key) => queues.readiness.addAfter(key, readinessDelayMs(queues.readiness.counts().waiting, random)),
    firewall: (key) => queues.firewall.addAfter(key, usageDelayMs(firewalls.size, random)),
    firewallNow: (key) => queues.firewall.add(key),
    firewallNews: (key) =>
      queues['firewall-news'].addAfter(key, readinessDelayMs(queues['firewall-news'].counts().waiting, random)),
    nad: (key) => queues.nad.add(key),
    node: (name) => queues.node.add(name),
    silence: (node) => queues.silence.add(node),
    pod: (key) => queues.pod.add(key),
    claim: (key) => queues.claim.add(key),
    slice: (key) => queues.slice.add(key),
  };
  const waiters = createAddressWaiters();
  const ids = keepIds(() => touch({ ...context, waiters }, context.state.idsCame()));
  const context: ControllerContext = { ...base, enqueue, ids };
  const users = createPodUsers(context.caches.pods, (key, namespace) => {
    const nad = context.state.registry.nad(key);
    // Of one that is not known, whoever says to use it may.
    return nad === undefined || context.state.registry.isFor(nad, namespace);
  });
  const views = createNetworkViews(context, users);
  const creations = createNadCreations({
    ...context,
    unanswered,
    touch: (touched) => touch({ ...context, waiters }, touched),
  });
  const freshness = createReportFreshness(
    {
      ...{ clock: base.clock, outage },
      onChange: (node) => {
        onFreshness(context, node);
        triggers.onFreshness(node);
      },
      onSilent: (node) => enqueue.silence(node),
    },
    signal,
  );
  const ofFirewalls = { ...context, freshness, firewalls, wildcards };
  const queues = {
    network: createQueue('network', networkReconciler({ ...context, views, creations }, users)),
    usage: createQueue('usage', usageReconciler({ ...context, freshness })),
    readiness: createQueue('readiness', readinessReconciler({ ...context, freshness })),
    firewall: createQueue('firewall', firewallReconciler(ofFirewalls)),
    'firewall-news': createQueue('firewall-news', firewallNewsReconciler(ofFirewalls)),
    nad: createQueue(
      'nad',
      nadReconciler(context, users, (touched) => touch({ ...context, waiters }, touched)),
    ),
    node: createQueue('node', nodeReconciler(context)),
    silence: createQueue('silence', silenceReconciler({ ...context, freshness, outage })),
    pod: createQueue('pod', podReconciler(context, waiters)),
    claim: createQueue('claim', claimReconciler(context)),
    slice: createQueue('slice', sliceReconciler(context)),
    ...(wildcards && { wildcard: createQueue('wildcard', wildcards.reconcile) }),
  };
  // What is used by nobody is deleted: so nothing is, before all users are known.
  if (wildcards !== undefined)
    void whenSynced(signal).then(
      () => wildcards.follow((key) => queues.wildcard?.add(key)),
      () => undefined,
    );
  const triggers = followFirewalls(ofFirewalls);
  followCaches({ ...context, views, creations, users, waiters, freshness });
  return queues;
};
