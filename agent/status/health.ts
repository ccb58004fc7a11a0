/**
 * What the probes of the kubelet mean.
 *
 * - Alive: the event loop turns (or nobody would answer), and every loop that has something to do takes steps. Nothing that
 *   others do makes it fail: a database or a bridge that is away, an object that cannot be programmed. A new process would
 *   not help there, and would cost a resync of everything.
 * - Ready: this node can take pods and has the whole desired state of it, or is about to. One bad object is no reason not
 *   to be.
 */
import type { BackendName } from '../../api/agent-status.ts';
import type { QueueState } from '../../base/reconciler.ts';
import type { DatabaseName } from '../databases/database.ts';
import { type Component, type ComponentHealth, reasonsOfHealth } from '../health/component.ts';

/** `remembered`: as the node said before its agent ended. Where gateways are disabled, that is what is seen. */
export type GatewayKnowledge = 'seen' | 'remembered' | 'unknown';

export interface HealthSources {
  /** Why no pod can be added now. */
  readonly podReasons: () => readonly string[];
  readonly isCniOpen: () => boolean;
  /** Why the container runtime may not call the plugin. */
  readonly pluginReasons: () => readonly string[];
  readonly connected: () => ReadonlyMap<DatabaseName, boolean>;
  readonly queues: () => ReadonlyMap<BackendName, QueueState>;
  readonly gateway: () => GatewayKnowledge;
  /** What the node's networks need beside the agent. */
  readonly components: () => readonly ComponentHealth[];
}

/** The longest step is a bundle of a large node, which takes seconds; every wait in one has an end before this (ADR 23). */
const STALLED_MS = 300_000;
/** ovs-vswitchd and nft may be restarted in that time. */
const FAILING_MS = 30_000;

/** Why it is not alive, one message each; empty: it is. */
export const reasonsNotAlive = (queues: ReadonlyMap<BackendName, QueueState>): string[] =>
  [...queues].flatMap(([name, { stalledMs }]) =>
    stalledMs > STALLED_MS ? [`${BACKENDS[name]}: no progress for ${seconds(stalledMs)}`] : [],
  );

/** Why it is not ready, one message each; empty: it is. */
export const reasonsNotServing = (sources: HealthSources): string[] => [
  ...sources.podReasons(),
  ...(sources.isCniOpen() ? [] : ['the socket for the CNI plugin is not open yet']),
  ...sources.pluginReasons(),
  ...[...sources.connected()].flatMap(([name, is]) => (is ? [] : [`${BACKENDS[name]} cannot be reached`])),
  ...[...sources.queues()].flatMap(([name, queue]) => reasonsOfBackend(BACKENDS[name], queue)),
  ...GATEWAY[sources.gateway()],
  ...reasonsOfHealth(sources.components(), (component) => isAway(component, sources.connected())),
];

/**
 * Why Services may not be on this node as desired, one message each; empty: they are, or are about to be. A backend that
 * does not answer is no reason while nothing waits for it: what is there works on.
 */
export const reasonsNotProxying = ({ connected, queues }: Pick<HealthSources, 'connected' | 'queues'>): string[] => {
  const all = queues();
  const isAway = (name: BackendName): boolean => new Map<BackendName, boolean>(connected()).get(name) === false;
  return [
    ...reasonsNotAlive(all),
    ...[...all].flatMap(([name, queue]) => {
      const waits = isAway(name) && queue.oldestMs > FAILING_MS;
      return waits ? [`${BACKENDS[name]} cannot be reached`] : reasonsOfBackend(BACKENDS[name], queue);
    }),
  ];
};

/** Of which it is said already that it cannot be reached. */
const isAway = (component: Component, connected: ReadonlyMap<DatabaseName, boolean>): boolean =>
  [...connected].some(([name, isConnected]) => !isConnected && DATABASE_COMPONENTS[name] === component);

const DATABASE_COMPONENTS: Readonly<Record<DatabaseName, Component>> = {
  northbound: 'northbound-db',
  southbound: 'southbound-db',
  openvswitch: 'openvswitch-db',
};

const GATEWAY: Readonly<Record<GatewayKnowledge, readonly string[]>> = {
  seen: [],
  remembered: ['the gateway of this node is a cached one: it was not observed since the agent started'],
  unknown: ['the gateway of this node is unknown: its networks have no path out'],
};

const reasonsOfBackend = (backend: string, { failing, hasCompared }: QueueState): string[] => {
  if (failing !== undefined && failing.forMs > FAILING_MS) {
    return [`${backend} has failed for ${seconds(failing.forMs)}: ${failing.message}`];
  }
  return hasCompared ? [] : [`${backend} was not compared with the desired state yet`];
};

const BACKENDS: Readonly<Record<BackendName, string>> = {
  northbound: 'the northbound database',
  southbound: 'the southbound database',
  openvswitch: 'the Open_vSwitch database',
  openflow: 'the bridge',
  host: 'the network stack of the host',
  nftables: 'nftables',
};

const seconds = (ms: number): string => `${Math.floor(ms / 1000)} s`;
