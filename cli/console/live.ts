/** Computes what the page shows when something has changed, and sends it to who has the page open. */

import { NODE_NETWORK_REPORTS } from '../../api/resources.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { NODES } from '../../kube/resources.ts';
import type { Snapshot } from '../cluster/snapshot.ts';
import { sceneOf } from '../why/allocations.ts';
import { CLOCK_SKEW_MS } from '../why/manager.ts';
import type { Mirrors } from './mirrors.ts';
import { type ConsoleView, consoleView } from './model.ts';
import type { StreamEvents } from './types.ts';

/** One open page. */
export interface Subscriber {
  /** The network whose details it shows. */
  readonly network: string | undefined;
  send<Name extends keyof StreamEvents>(event: Name, data: StreamEvents[Name]): void;
}

export interface Live {
  /** To be called at every change. */
  changed(): void;
  /** Sends what is known at once, then every change. Returns what ends it. */
  subscribe(subscriber: Subscriber): () => void;
  close(): void;
}

export interface LiveOptions {
  readonly mirrors: Pick<Mirrors, 'snapshot' | 'objects' | 'sources' | 'isComplete'>;
  readonly clock?: Clock | undefined;
  readonly viewOfScene?: typeof consoleView;
}

/** Changes come in bursts: a rollout is hundreds of them. */
const GATHER_MS = 200;
/** Of a large cluster computing takes long: for at most a fifth of the time. */
const PAUSE_PER_WORK = 4;
/** The page takes the console for gone after three of them. */
export const PULSE_MS = 5_000;

export const createLive = ({ mirrors, clock = systemClock, viewOfScene = consoleView }: LiveOptions): Live => {
  const subscribers = new Map<Subscriber, Sent>();
  let view: ConsoleView | undefined;
  let cancelRefresh: (() => void) | undefined;
  let cancelExpiry: (() => void) | undefined;
  let notBefore = Number.NEGATIVE_INFINITY;

  const refresh = (): void => {
    cancelRefresh = undefined;
    const started = clock.monotonic();
    if (mirrors.isComplete) compute();
    // Details of networks are computed for each page, as they are sent.
    sendAll();
    notBefore = clock.monotonic() + (clock.monotonic() - started) * PAUSE_PER_WORK;
  };
  const compute = (): void => {
    const { view: next, expiresInMs } = viewOf(mirrors, viewOfScene);
    view = next;
    cancelExpiry?.();
    cancelExpiry = expiresInMs === undefined ? undefined : clock.schedule(expiresInMs, changed);
  };
  const changed = (): void => {
    // Nobody looks: the first page computes.
    if (subscribers.size === 0) return;
    cancelRefresh ??= clock.schedule(Math.max(GATHER_MS, notBefore - clock.monotonic()), refresh);
  };
  const pulse = () => ({ now: clock.wall(), sources: mirrors.sources() });
  const sendAll = (): void => {
    for (const [subscriber, sent] of subscribers) sendTo(subscriber, sent);
  };
  const sendTo = (subscriber: Subscriber, sent: Sent): void => {
    subscriber.send('pulse', pulse());
    if (view === undefined) return;
    const { network } = subscriber;
    const { model, detail } = shownOf(view, network);
    sendChanged(sent, 'model', model, subscriber);
    if (network !== undefined) sendChanged(sent, 'detail', detail ?? null, subscriber);
  };
  const beat = (): (() => void) => {
    let cancel = clock.schedule(PULSE_MS, function again() {
      for (const subscriber of subscribers.keys()) subscriber.send('pulse', pulse());
      cancel = clock.schedule(PULSE_MS, again);
    });
    return () => cancel();
  };
  let stopBeating: (() => void) | undefined;
  const stop = (): void => {
    stopBeating?.();
    stopBeating = undefined;
    cancelRefresh?.();
    cancelRefresh = undefined;
    cancelExpiry?.();
  };
  return {
    changed,
    subscribe: (subscriber) => {
      const sent: Sent = new Map();
      subscribers.set(subscriber, sent);
      stopBeating ??= beat();
      if (subscribers.size === 1 || view === undefined) refresh();
      else sendTo(subscriber, sent);
      return () => {
        subscribers.delete(subscriber);
        if (subscribers.size === 0) stop();
      };
    },
    close: () => {
      subscribers.clear();
      stop();
    },
  };
};

/** What a page was last sent, as JSON. */
type Sent = Map<keyof StreamEvents, string>;

const sendChanged = <Name extends keyof StreamEvents>(
  sent: Sent,
  event: Name,
  data: StreamEvents[Name],
  subscriber: Subscriber,
): void => {
  const text = JSON.stringify(data);
  if (sent.get(event) === text) return;
  sent.set(event, text);
  subscriber.send(event, data);
};

/** An object that no reader has thought of must not leave an old picture on the page as if it were today's. */
const viewOf = (
  mirrors: Pick<Mirrors, 'snapshot' | 'objects'>,
  viewOfScene: typeof consoleView,
): { readonly view: ConsoleView; readonly expiresInMs?: number | undefined } => {
  try {
    const snapshot = mirrors.snapshot();
    const view = viewOfScene(sceneOf(snapshot), mirrors.objects(NODES), mirrors.objects(NODE_NETWORK_REPORTS));
    return { view, expiresInMs: untilExpiry(snapshot) };
  } catch (error) {
    const notes = [`the state of the cluster cannot be computed: ${messageOf(error)}`];
    return { view: { model: { networks: [], nodes: [], problems: [], notes }, detail: () => undefined } };
  }
};

/** A network whose details cannot be computed leaves the others on the page, where the user can choose another one. */
const shownOf = (
  { model, detail }: ConsoleView,
  network: string | undefined,
): Pick<ConsoleView, 'model'> & { readonly detail?: ReturnType<ConsoleView['detail']> } => {
  try {
    return { model, detail: network === undefined ? undefined : detail(network) };
  } catch (error) {
    return { model: { ...model, notes: [...model.notes, `network ${network} cannot be shown: ${messageOf(error)}`] } };
  }
};

/** When something goes stale without an event: the Lease of the cluster manager, or the report of an agent. */
const untilExpiry = ({ leader, reports, now }: Snapshot): number | undefined => {
  const ends = [
    ...(leader === undefined || leader === 'absent' ? [] : [leader.renewedAt + leader.durationMs + CLOCK_SKEW_MS]),
    ...reports.flatMap(({ renewal }) => (renewal === undefined ? [] : [renewal.at + renewal.leaseMs])),
  ].filter((at) => at >= now);
  return ends.length === 0 ? undefined : Math.min(...ends) - now + 1;
};
