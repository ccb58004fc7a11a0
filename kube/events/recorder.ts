/**
 * Writes core/v1 Events: `kubectl describe` and `kubectl get events` read those, and the API server shows them as
 * events.k8s.io/v1 too. One is written at a time, in order; what can't be written after a few tries is dropped.
 */
import { backoffMs } from '../../base/backoff.ts';
import { type Clock, delay, systemClock } from '../../base/clock.ts';
import { isNotFound, isTransient } from '../errors.ts';
import { createRecentMap, type RecentMap } from '../recent-map.ts';
import { EVENTS } from '../resources.ts';
import type { ObjectInput, ObjectRef } from '../types.ts';
import { createCorrelator, type Decision } from './correlator.ts';
import type { EventInput, EventRecorder, EventRecorderOptions } from './types.ts';

/** Events that wait to be sent. An API server that is away for long loses the later ones. */
const MAX_QUEUE = 1000;
const MAX_TRIES = 5;

type Accepted = Extract<Decision, { kind: 'write' }>;

interface Context {
  readonly options: EventRecorderOptions;
  readonly clock: Clock;
  readonly random: () => number;
  /** The Event objects that repetitions count up, by the correlator's key. */
  readonly written: RecentMap<ObjectRef>;
}

export const createEventRecorder = (options: EventRecorderOptions): EventRecorder => {
  const { clock = systemClock, random = Math.random, observe = () => {} } = options;
  const context = { options, clock, random, written: createRecentMap<ObjectRef>(4096) };
  const correlator = createCorrelator();
  const queue: (() => Promise<void>)[] = [];
  let draining: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) await task();
    draining = undefined;
  };
  return {
    record: (event) => {
      const decision = correlator.decide(event, clock.wall());
      if (decision.kind === 'drop') return observe({ kind: 'dropped', event, reason: 'rate' });
      if (queue.length >= MAX_QUEUE) return observe({ kind: 'dropped', event, reason: 'full' });
      const seenAt = clock.wall();
      queue.push(() => write(context, event, decision, seenAt));
      draining ??= Promise.resolve().then(drain);
    },
    flush: () => draining ?? Promise.resolve(),
  };
};

const write = async (context: Context, event: EventInput, decision: Accepted, seenAt: number): Promise<void> => {
  const { options, clock, random } = context;
  const { observe = () => {} } = options;
  for (let failures = 1; ; failures += 1) {
    try {
      await send(context, event, decision, seenAt);
      return observe({ kind: 'recorded', event, count: decision.count });
    } catch (error) {
      // A namespace that is being deleted, a policy: trying again will not help.
      if (!isTransient(error) || failures >= MAX_TRIES)
        return observe({ kind: 'dropped', event, reason: 'error', error });
      await delay(clock, backoffMs({ minMs: 500, maxMs: 10_000, random }, failures));
    }
  }
};

const send = async (context: Context, event: EventInput, decision: Accepted, seenAt: number): Promise<void> => {
  const ref = context.written.get(decision.key);
  if (ref !== undefined && (await countUp(context, ref, decision, seenAt))) return;
  const object = eventObject(context.options, event, decision, seenAt);
  const created = await context.options.client.create(EVENTS, object);
  context.written.set(decision.key, { namespace: created.metadata.namespace, name: created.metadata.name });
};

/** @returns false when the Event has expired: the server keeps them for an hour */
const countUp = async (
  { options, written }: Context,
  ref: ObjectRef,
  { key, message, count }: Accepted,
  seenAt: number,
): Promise<boolean> => {
  const body = { count, message, lastTimestamp: time(seenAt) };
  try {
    await options.client.patch(EVENTS, ref, { type: 'merge', body });
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    written.delete(key);
    return false;
  }
};

const eventObject = (
  { component, host }: EventRecorderOptions,
  { regarding, type, reason }: EventInput,
  { message, count, firstSeen }: Accepted,
  seenAt: number,
): ObjectInput => {
  // An event about a cluster-scoped object is in the default namespace.
  const namespace = regarding.namespace ?? 'default';
  return {
    metadata: { namespace, generateName: `${regarding.name.slice(0, 200)}.` },
    involvedObject: { ...regarding },
    type,
    reason,
    message,
    count,
    firstTimestamp: time(firstSeen),
    lastTimestamp: time(seenAt),
    source: { component, ...(host === undefined ? {} : { host }) },
    reportingComponent: component,
    reportingInstance: host ?? component,
  };
};

/** metav1.Time has seconds. */
const time = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
