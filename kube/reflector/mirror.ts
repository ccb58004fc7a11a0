/** The loop of a reflector: list, watch, watch again, and list again when the server has forgotten where we were. */
import { backoffMs } from '../../base/backoff.ts';
import { type Clock, delay } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { isAbsentResource, isTooManyRequests, isTransient, isUnavailable, KubeError } from '../errors.ts';
import { keyOf } from '../object-key.ts';
import { isAway, type Outage } from '../outage.ts';
import type { KubeClient, KubeObject, ObjectKey, ResourceType } from '../types.ts';
import { isListed, lacksDefinition } from './discovery.ts';
import { listAll } from './list-all.ts';
import type { ReflectorObservation, ReflectorTimings } from './types.ts';
import { type WatchEnd, watchSession } from './watch-session.ts';

export interface MirrorOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch' | 'request'>;
  readonly resource: ResourceType;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly optional?: boolean | undefined;
  readonly timings: ReflectorTimings;
  readonly store: MirrorStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly outage: Outage;
  /** Others use the server, too, and one of them has got what it asked for: until then nothing is known of who answers. */
  readonly isServing: () => boolean;
  readonly observe: (observation: ReflectorObservation) => void;
  readonly onSynced: () => void;
  readonly onContact: () => void;
}

interface MirrorStore {
  readonly size: number;
  /** @returns its key */
  put(object: KubeObject): ObjectKey;
  remove(key: ObjectKey): void;
  retain(keys: ReadonlySet<ObjectKey>): void;
}

interface State {
  /** Where the next watch starts. Undefined: the list must be read. */
  resourceVersion: string | undefined;
  /** Lists that failed in a row. */
  listFailures: number;
  /** Watches that ended badly in a row, without an event in between; a list in between does not count as one. */
  watchFailures: number;
  /** A list succeeded, or it is known that there is no such resource. */
  isKnown: boolean;
  /** Lists in a row that said that there is no such resource. */
  absences: number;
}

/** Failures of a watch in a row after which the list is read again, in case the version itself is the reason. */
const FAILURES_BEFORE_RELIST = 5;

/** Lists in a row that say that there is no such resource, before that is believed: at first, and of one that was there. */
const ABSENCES_AT_FIRST = 4;
const ABSENCES = 2;
/** As many times as long, at most, does the next list wait while the server has given nobody what he asked for. */
const MOST_DOUBTS = 8;

/** Before the next step. */
interface Pause {
  readonly ms: number;
  /** The server is: it ends when somebody hears of it. */
  readonly isAway: boolean;
}

const pause = (ms: number, isAway = false): Pause => ({ ms, isAway });
const NO_PAUSE = pause(0);

/** @returns runs until the signal aborts */
export const createMirror = (options: MirrorOptions): ((signal: AbortSignal) => Promise<void>) => {
  const state: State = { resourceVersion: undefined, listFailures: 0, watchFailures: 0, isKnown: false, absences: 0 };
  return async (signal) => {
    while (!signal.aborted) {
      const { ms, isAway } = await (state.resourceVersion === undefined ? list : watch)(options, state, signal);
      if (ms > 0 && isAway) await options.outage.wait(ms, signal);
      else if (ms > 0) await delay(options.clock, ms, signal).catch(() => {});
    }
  };
};

const list = async (options: MirrorOptions, state: State, signal: AbortSignal): Promise<Pause> => {
  const { client, resource, store, clock, observe, timings } = options;
  const started = clock.monotonic();
  const seen = new Set<ObjectKey>();
  const each = (object: KubeObject): void => {
    seen.add(store.put(object));
  };
  try {
    const selection = { ...selectionOf(options), pageSize: timings.pageSize };
    const summary = await listAll(client, resource, selection, each, () => seen.clear(), signal);
    store.retain(seen);
    options.onContact();
    observe({ kind: 'listed', items: summary.items, pages: summary.pages, milliseconds: clock.monotonic() - started });
    state.resourceVersion = summary.resourceVersion;
    state.listFailures = 0;
    state.isKnown = true;
    state.absences = 0;
    options.outage.answered();
    options.onSynced();
    return NO_PAUSE;
  } catch (error) {
    if (signal.aborted) return NO_PAUSE;
    return await listFailed(options, state, error, signal);
  }
};

const listFailed = async (
  options: MirrorOptions,
  state: State,
  error: unknown,
  signal: AbortSignal,
): Promise<Pause> => {
  const isGone = isAway(error);
  if (!isGone) options.outage.answered(error);
  if (options.optional && isAbsentResource(error)) return pause(await absent(options, state, error, signal));
  state.absences = 0;
  state.listFailures += 1;
  return pause(failed(options, 'list', error, state.listFailures), isGone);
};

/**
 * A server says so too while a definition is not established yet, or its own cache of definitions is not filled: what was there stays until
 * it has said so several times, and who starts then does not take it for empty, or what an earlier run has written would be removed. A
 * definition that is deleted takes its objects with it, and the watch tells of each. What would be lost by it, the server's own lists
 * have to confirm: a proxy may have answered. Where the server says that it has no such definition at all, who starts asks once.
 */
const absent = async (options: MirrorOptions, state: State, error: unknown, signal: AbortSignal): Promise<number> => {
  const { timings, observe, store, isServing, onContact, onSynced } = options;
  if (!isServing()) {
    state.listFailures += 1;
    return timings.doubtMs * Math.min(state.listFailures, MOST_DOUBTS);
  }
  state.absences += 1;
  if (
    state.absences < (state.isKnown ? ABSENCES : ABSENCES_AT_FIRST) &&
    !(await isLackedAtFirst(options, state, signal))
  ) {
    // At a start it is the usual answer of a cluster without the definitions, and no failure.
    if (!state.isKnown) return timings.doubtMs;
    observe({ kind: 'failed', phase: 'list', error, retryInMs: timings.absentMs });
    return timings.absentMs;
  }
  // Nothing is lost by what is known already: it costs no question.
  const doubt = state.isKnown && store.size === 0 ? undefined : await doubtOf(options, error, signal);
  if (doubt !== undefined) {
    const retryInMs = state.isKnown ? timings.absentMs : timings.doubtMs * MOST_DOUBTS;
    if (!signal.aborted) observe({ kind: 'failed', phase: 'list', error: doubt, retryInMs });
    return retryInMs;
  }
  state.isKnown = true;
  store.retain(new Set());
  onContact();
  observe({ kind: 'absent' });
  onSynced();
  return timings.absentMs;
};

const isLackedAtFirst = async ({ client, resource }: MirrorOptions, state: State, signal: AbortSignal) =>
  !state.isKnown && state.absences === 1 && (await lacksDefinition(client, resource, signal));

/** Why what was said is not believed. */
const doubtOf = async ({ client, resource }: MirrorOptions, error: unknown, signal: AbortSignal): Promise<unknown> => {
  try {
    return (await isListed(client, resource, signal)) ? error : undefined;
  } catch (unconfirmed) {
    return unconfirmed;
  }
};

const watch = async (options: MirrorOptions, state: State, signal: AbortSignal): Promise<Pause> => {
  const { timings, random, observe, clock } = options;
  let acceptedAt = Number.POSITIVE_INFINITY;
  const seconds = timings.watchMinSeconds + random() * (timings.watchMaxSeconds - timings.watchMinSeconds);
  const end = await watchSession(
    {
      ...options,
      idleMs: timings.idleMs,
      watch: {
        ...selectionOf(options),
        resourceVersion: state.resourceVersion,
        allowWatchBookmarks: true,
        timeoutSeconds: Math.round(seconds),
      },
      onStarted: () => {
        acceptedAt = clock.monotonic();
        options.outage.answered();
        observe({ kind: 'watch-started', resourceVersion: state.resourceVersion ?? '' });
      },
      onEvent: (type, object) => take(options, state, type, object),
    },
    signal,
  );
  const wasGood = clock.monotonic() - acceptedAt >= GOOD_WATCH_MS;
  if (wasGood) state.watchFailures = 0;
  // A server that accepts a watch is there, however often it loses it.
  const isGone = acceptedAt === Number.POSITIVE_INFINITY && end.reason === 'failed' && isAway(end.error);
  if (end.reason === 'failed' && !isAway(end.error)) options.outage.answered(end.error);
  return pause(watchEnded(options, state, end, wasGood), isGone);
};

/** A watch that was open for so long ends a row of failures, and its own end is the first of another one at most. */
const GOOD_WATCH_MS = 1000;

const take = (
  { store, observe }: MirrorOptions,
  state: State,
  type: 'added' | 'modified' | 'deleted' | 'bookmark',
  object: KubeObject,
): void => {
  const version = object.metadata?.resourceVersion;
  if (typeof version !== 'string' || version === '') {
    throw new KubeError('ERR_KUBE_PROTOCOL', `a ${type} event has no metadata.resourceVersion`);
  }
  if (type === 'deleted') store.remove(keyOf(object));
  else if (type !== 'bookmark') store.put(object);
  state.resourceVersion = version;
  state.watchFailures = 0;
  observe({ kind: 'event', type });
};

/** A server that accepts watches and ends them at once must not be asked in a tight loop. */
const watchEnded = (options: MirrorOptions, state: State, end: WatchEnd, wasGood: boolean): number => {
  if (end.reason === 'aborted') return 0;
  if (end.reason === 'failed') return watchFailed(options, state, end.error);
  options.observe({ kind: 'watch-ended', reason: end.reason });
  if (wasGood) return 0;
  state.watchFailures += 1;
  return state.watchFailures === 1 ? 0 : wait(options, undefined, state.watchFailures);
};

const watchFailed = (options: MirrorOptions, state: State, error: unknown): number => {
  state.watchFailures += 1;
  const retryInMs = failed(options, 'watch', error, state.watchFailures);
  if (!mustRelist(error, state)) return retryInMs;
  state.resourceVersion = undefined;
  options.observe({ kind: 'relist', reason: messageOf(error) });
  // The first time at once: that a version has expired is nothing to wait for.
  return state.watchFailures === 1 ? 0 : retryInMs;
};

/**
 * A lost connection, overload and a line of garbage leave the version good: the watch goes on from there and nothing is
 * missed. Any other refusal, above all 410, is about the version. A server that is away or overloaded must not get lists
 * from everybody when it is back, however long that takes.
 */
const mustRelist = (error: unknown, { watchFailures }: State): boolean => {
  if (isUnavailable(error) || isTooManyRequests(error)) return false;
  if (watchFailures >= FAILURES_BEFORE_RELIST) return true;
  return error instanceof KubeError && error.code === 'ERR_KUBE_STATUS' && !isTransient(error);
};

const failed = (options: MirrorOptions, phase: 'list' | 'watch', error: unknown, failures: number): number => {
  const retryInMs = wait(options, error, failures);
  options.observe({ kind: 'failed', phase, error, retryInMs });
  return retryInMs;
};

const wait = ({ timings, random }: MirrorOptions, error: unknown, failures: number): number => {
  const backoff = backoffMs({ minMs: timings.backoffMinMs, maxMs: timings.backoffMaxMs, random }, failures);
  const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(asked, backoff);
};

const selectionOf = ({ namespace, labelSelector, fieldSelector }: MirrorOptions) => ({
  namespace,
  labelSelector,
  fieldSelector,
});
