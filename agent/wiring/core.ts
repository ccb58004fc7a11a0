/** Facts in, desired state out: the agent without its edges. */
import { systemClock } from '../../base/clock.ts';
import type { Writer } from '../../kube/writer/types.ts';
import { Annotator } from '../cni/attachments/annotator.ts';
import { NetworkUsage, networksOfPorts } from '../cni/attachments/network-usage.ts';
import { AttachmentRegistry } from '../cni/attachments/registry.ts';
import type { Databases } from '../databases/databases.ts';
import { createEngine, type Engine, type Sinks } from '../desired/engine.ts';
import type { Domains } from '../dns/start.ts';
import { FEATURES } from '../features/index.ts';
import type { ClusterInputs } from '../inputs/cluster-inputs.ts';
import { type FactFeeder, feedFacts } from '../inputs/fact-feeder.ts';
import { FactStore } from '../model/fact-store.ts';
import type { LocalSettings } from '../model/view.ts';
import type { Cgroups } from '../node/cgroups/index.ts';
import type { NodeKeeper } from '../node/node-keeper.ts';
import { followPhysicalNetworks } from '../node/physical-networks.ts';
import { DiagnosticEvents } from '../status/diagnostic-events.ts';
import { emitOwnerEvent } from '../status/owner-events.ts';
import type { EmitNodeEvent, EmitPodEvent, EmitServiceEvent } from '../status/pod-events.ts';
import { type EmitPolicyEvent, PolicyEvents } from '../status/policy-events.ts';

export interface Core {
  readonly facts: FactStore;
  readonly registry: AttachmentRegistry;
  readonly engine: Engine;
  readonly feeder: FactFeeder;
  readonly annotator: Pick<Annotator, 'starved'>;
  /** Called after each rendering, with the owners whose fragments may have changed. @returns what ends it */
  onRendered(listener: (owners: readonly string[]) => void): () => void;
  stop(): void;
}

export interface CoreOptions {
  readonly settings: LocalSettings;
  readonly inputs: ClusterInputs;
  readonly databases: Databases;
  /** Knows this node first-hand. */
  readonly local: Pick<NodeKeeper, 'feed'>;
  /** Keeps the facts about neighbours outside. The result ends it. */
  readonly followNeighbours: (facts: FactStore) => () => void;
  /** Keeps the facts about what domain names stand for. */
  readonly domains: Pick<Domains, 'follow' | 'problemsOfFirewalls' | 'onNamesChange'>;
  /** Keeps the facts about cgroups. */
  readonly followCgroups: (facts: FactStore) => Pick<Cgroups, 'stop'>;
  /** Where flows, the host's network stack and ports, and nftables get the desired state of them. */
  readonly datapath: Pick<Sinks, 'openflow' | 'host' | 'nftables' | 'nodePorts'>;
  readonly writer: Pick<Writer, 'patchJsonMap' | 'merge'>;
  readonly emitPodEvent: EmitPodEvent;
  readonly emitServiceEvent: EmitServiceEvent;
  readonly emitNodeEvent: EmitNodeEvent;
  readonly emitPolicyEvent: EmitPolicyEvent;
  /** A policy that was held for a moment could not be followed. */
  readonly onPolicyFailure: (key: string, error: unknown) => void;
  /** How long a network that is rendered on demand stays after its last pod here. */
  readonly networkGraceMs: number;
  readonly onRendered: (fragments: number, seconds: number) => void;
}

/** After how long the API is asked again what it has refused for minutes. */
export const RETRY_MS = 5_000;

/** Renders everything there is before it returns. */
export const startCore = (options: CoreOptions): Core => {
  const { settings, inputs, databases } = options;
  const facts = new FactStore();
  const registry = new AttachmentRegistry();
  const usage = new NetworkUsage({ facts, clock: systemClock, graceMs: options.networkGraceMs });
  if (settings.networkRendering === 'on-demand')
    usage.linger(networksOfPorts(databases.openvswitch.replica.rows('Interface')));
  const annotator = createAnnotator(options, registry);
  const events = new DiagnosticEvents(emitOwnerEvent(options, facts), systemClock);
  const listeners = new Set<(owners: readonly string[]) => void>();
  const engine: Engine = createEngine({
    features: FEATURES,
    facts,
    settings,
    sinks: {
      northbound: databases.northbound.desired,
      southbound: databases.southbound.desired,
      openvswitch: databases.openvswitch.desired,
      ...options.datapath,
      attachments: registry,
      usage,
    },
    schedule: (flush) => setImmediate(flush),
    onFlush: (owners, seconds) => {
      annotator.flush();
      events.update(owners, engine.diagnostics);
      options.onRendered(owners.length, seconds);
      for (const listener of listeners) listener(owners);
    },
  });
  const unfeed = options.local.feed(facts);
  const unfollow = options.followNeighbours(facts);
  const unmap = followPhysicalNetworks(facts, databases.openvswitch.replica);
  const cgroups = options.followCgroups(facts);
  const endDomains = options.domains.follow(facts);
  const feeder = feedFacts(facts, inputs, settings, settings.node, systemClock, options.onPolicyFailure);
  const stopPolicyEvents = reportPolicies(options, feeder, facts);
  engine.start();
  engine.flush();
  return {
    facts,
    registry,
    engine,
    feeder,
    annotator,
    onRendered: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => {
      stopPolicyEvents();
      feeder.stop();
      unfeed();
      unfollow();
      endDomains();
      unmap();
      cgroups.stop();
      usage.stop();
      annotator.stop();
      engine.stop();
      events.stop();
    },
  };
};

/** @returns what ends it */
const reportPolicies = (
  { inputs: { policies: caches }, domains, emitPolicyEvent }: CoreOptions,
  { policies }: FactFeeder,
  facts: FactStore,
): (() => void) => {
  const events = new PolicyEvents({
    problems: () => [...policies.localProblems(), ...domains.problemsOfFirewalls(facts)],
    uidOf: (key, kind) => {
      if (kind === 'MultiNetworkPolicy') return caches?.multi?.get(key)?.policy.policy.uid;
      return (kind === 'EgressFirewall' ? caches?.admin.EgressFirewall : caches?.policies)?.get(key)?.policy.uid;
    },
    emit: emitPolicyEvent,
    clock: systemClock,
  });
  const changed = (): void => events.changed();
  const ends = [
    ...[caches?.policies.subscribe(changed), caches?.pods.subscribe(changed), caches?.multi?.subscribe(changed)],
    ...[caches?.admin.EgressFirewall?.subscribe(changed), domains.onNamesChange(changed)],
  ];
  return () => {
    for (const end of ends) end?.();
    events.stop();
  };
};

const createAnnotator = (
  { settings, inputs, writer, emitPodEvent }: CoreOptions,
  registry: AttachmentRegistry,
): Annotator =>
  new Annotator({
    registry,
    writer,
    cluster: settings.cluster,
    known: (pod) => {
      const projection = inputs.pods.get(pod);
      return projection && { value: projection.annotation, resourceVersion: projection.resourceVersion };
    },
    onProblem: ({ pod, uid, reason, message }) => {
      const [namespace = '', name = ''] = pod.split('/');
      emitPodEvent(
        { namespace, name, uid },
        reason === 'unreadable' ? 'AnnotationRepaired' : 'ErrorAllocatingPod',
        message,
      );
    },
    later: (retry) => systemClock.schedule(RETRY_MS, retry),
  });
