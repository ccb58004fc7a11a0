/**
 * What the probes of the kubelet mean.
 *
 * - Alive: the event loop turns (or nobody would answer), and every loop that has something to do takes steps. Nothing that
 *   others do makes it fail: a database or a bridge that is away, an object that cannot be programmed. A new process would
 *   not help there, and would cost a resync of everything.
 * - Ready: this node can take pods and has everything that is wanted of it, or is about to. One bad object is no reason not
 *   to be.
 */
import type { DatabaseName } from './databases/database.ts';
import type { QueueState } from './reconcile/loop-progress.ts';
import type { BackendName } from './reconcile/node-datapath.ts';

export type PlaceName = BackendName | DatabaseName;

/** What is still to be done at a place. Databases say for themselves whether they answer. */
export type PlaceQueue = Omit<QueueState, 'failing'> & Partial<Pick<QueueState, 'failing'>>;

/** `remembered`: as the node said before its agent ended. Where gateways are switched off, that is what is seen. */
export type GatewayKnowledge = 'seen' | 'remembered' | 'unknown';

export interface HealthSources {
  /** Why no pod can be added now. */
  readonly podReasons: () => readonly string[];
  readonly isCniOpen: () => boolean;
  readonly connected: () => ReadonlyMap<DatabaseName, boolean>;
  readonly queues: () => ReadonlyMap<PlaceName, PlaceQueue>;
  readonly gateway: () => GatewayKnowledge;
}

/** The longest step is a bundle of a large node, which takes seconds; every wait in one has an end before this (ADR 23). */
const STALLED_MS = 300_000;
/** ovs-vswitchd and nft may be restarted in that time. */
const FAILING_MS = 30_000;

/** Why it is not alive, a sentence each; empty: it is. */
export const reasonsNotAlive = (queues: ReadonlyMap<PlaceName, PlaceQueue>): string[] =>
  [...queues].flatMap(([name, { stalledMs }]) =>
    stalledMs > STALLED_MS ? [`${PLACES[name]}: no step of its work has ended for ${seconds(stalledMs)}`] : [],
  );

/** Why it is not ready, a sentence each; empty: it is. */
export const reasonsNotServing = (sources: HealthSources): string[] => [
  ...sources.podReasons(),
  ...(sources.isCniOpen() ? [] : ['the socket for the CNI plugin is not open yet']),
  ...[...sources.connected()].flatMap(([name, is]) => (is ? [] : [`${PLACES[name]} cannot be reached`])),
  ...[...sources.queues()].flatMap(([name, queue]) => reasonsOfPlace(PLACES[name], queue)),
  ...GATEWAY[sources.gateway()],
];

/**
 * Why Services may not be on this node as they are wanted, a sentence each; empty: they are, or are about to be. A place that
 * does not answer is no reason while nothing waits for it: what is there works on.
 */
export const reasonsNotProxying = ({ connected, queues }: Pick<HealthSources, 'connected' | 'queues'>): string[] => {
  const places = queues();
  const isAway = (name: PlaceName): boolean => new Map<PlaceName, boolean>(connected()).get(name) === false;
  return [
    ...reasonsNotAlive(places),
    ...[...places].flatMap(([name, queue]) => {
      const waits = isAway(name) && queue.oldestMs > FAILING_MS;
      return waits ? [`${PLACES[name]} cannot be reached`] : reasonsOfPlace(PLACES[name], queue);
    }),
  ];
};

const GATEWAY: Readonly<Record<GatewayKnowledge, readonly string[]>> = {
  seen: [],
  remembered: ['the gateway of this node is only remembered: it was not seen since the agent started'],
  unknown: ['the gateway of this node is not known: its networks have no way out'],
};

const reasonsOfPlace = (place: string, { failing, hasCompared }: PlaceQueue): string[] => {
  if (failing !== undefined && failing.forMs > FAILING_MS) {
    return [`${place} cannot be programmed for ${seconds(failing.forMs)}: ${failing.message}`];
  }
  return hasCompared ? [] : [`${place} was not compared with what is wanted yet`];
};

const PLACES: Readonly<Record<PlaceName, string>> = {
  northbound: 'the northbound database',
  southbound: 'the southbound database',
  openvswitch: 'the Open_vSwitch database',
  openflow: 'the bridge',
  host: 'the network stack of the host',
  nftables: 'nftables',
};

const seconds = (ms: number): string => `${Math.floor(ms / 1000)} s`;
