/** Keys to work on: each once, one worker per key, failures again later. */
import { abortable, onAbort } from '../../base/abort.ts';
import { backoffMs } from '../../base/backoff.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { createFairLanes, type FairLanes } from '../fair-lanes.ts';
import { createTokenBuckets, type TokenBuckets } from '../token-buckets.ts';
import type { WorkQueue, WorkQueueOptions, WorkResult } from './types.ts';

interface State {
  readonly clock: Clock;
  /** Keys that wait for a worker, and since when. */
  readonly queued: FairLanes<string, number>;
  readonly pace: TokenBuckets | undefined;
  /** Keys that wait because they were worked on too often: what cancels that. */
  readonly paced: Map<string, () => void>;
  /** Keys in work; true when the key was added meanwhile. */
  readonly working: Map<string, boolean>;
  /** Keys that wait for a time: what cancels that. */
  readonly waiting: Map<string, { readonly due: number; readonly cancel: () => void }>;
  readonly failures: Map<string, number>;
  readonly idleWaiters: Set<() => void>;
  /** Undefined before `run` and after its end. */
  start: (() => void) | undefined;
}

export const createWorkQueue = (options: WorkQueueOptions): WorkQueue => {
  const { clock = systemClock, laneOf = () => '', perLane, pace } = options;
  const state: State = {
    clock,
    queued: createFairLanes(laneOf, perLane === undefined ? undefined : () => perLane),
    pace: pace === undefined ? undefined : createTokenBuckets(pace),
    paced: new Map(),
    working: new Map(),
    waiting: new Map(),
    failures: new Map(),
    idleWaiters: new Set(),
    start: undefined,
  };
  const add = (key: string): void => {
    cancelWait(state, key);
    if (state.working.has(key)) state.working.set(key, true);
    else enqueue(state, key);
    state.start?.();
  };
  const addAfter = (key: string, milliseconds: number): void => {
    if (isQueued(state, key) || state.working.get(key) === true) return;
    const due = clock.monotonic() + milliseconds;
    if ((state.waiting.get(key)?.due ?? Number.POSITIVE_INFINITY) <= due) return;
    cancelWait(state, key);
    state.waiting.set(key, { due, cancel: clock.schedule(milliseconds, () => add(key)) });
  };
  return {
    add,
    addAfter,
    run: (signal) => run(options, state, addAfter, signal),
    counts: () => ({
      queued: state.queued.size + state.paced.size,
      working: state.working.size,
      waiting: state.waiting.size,
    }),
    failures: (key) => state.failures.get(key) ?? 0,
    idle: (signal) => whenIdle(state, signal),
  };
};

const isQueued = ({ queued, paced }: State, key: string): boolean => queued.has(key) || paced.has(key);

const enqueue = (state: State, key: string): void => {
  if (isQueued(state, key)) return;
  const { clock, pace, paced, queued } = state;
  const now = clock.monotonic();
  const waitMs = pace?.reserve(key, now) ?? 0;
  if (waitMs === 0) {
    queued.add(key, now);
    return;
  }
  const onTurn = (): void => {
    paced.delete(key);
    queued.add(key, clock.monotonic());
    state.start?.();
  };
  paced.set(key, clock.schedule(waitMs, onTurn));
};

const run = (
  options: WorkQueueOptions,
  state: State,
  addAfter: (key: string, milliseconds: number) => void,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve) => {
    const { concurrency = 1 } = options;
    const start = (): void => {
      while (!signal.aborted && state.working.size < concurrency) {
        const next = state.queued.take();
        if (next === undefined) break;
        void work(options, state, next, addAfter, signal).then(onEnd);
      }
      settleIdle(state);
    };
    const onEnd = (): void => {
      start();
      if (signal.aborted && state.working.size === 0) stop();
    };
    const stop = (): void => {
      state.start = undefined;
      for (const key of [...state.waiting.keys()]) cancelWait(state, key);
      for (const cancel of state.paced.values()) cancel();
      state.paced.clear();
      resolve();
    };
    state.start = start;
    onAbort(signal, () => state.working.size === 0 && stop());
    start();
  });

const work = async (
  options: WorkQueueOptions,
  state: State,
  [key, queuedAt]: readonly [string, number],
  addAfter: (key: string, milliseconds: number) => void,
  signal: AbortSignal,
): Promise<void> => {
  const { clock = systemClock, observe = () => {} } = options;
  const started = clock.monotonic();
  state.working.set(key, false);
  const outcome = await attempt(options, key, signal);
  const again = state.working.get(key) === true;
  state.working.delete(key);
  state.queued.end(key);
  if (again) enqueue(state, key);
  if (outcome.ok) {
    state.failures.delete(key);
    observe({ kind: 'done', key, milliseconds: clock.monotonic() - started, waitedMs: started - queuedAt });
    if (outcome.result !== undefined) addAfter(key, outcome.result.requeueAfterMs);
    return;
  }
  if (signal.aborted) return;
  const retryInMs = nextBackoff(options, state, key);
  observe({ kind: 'failed', key, error: outcome.error, retryInMs });
  addAfter(key, retryInMs);
};

type Outcome =
  | { readonly ok: true; readonly result: WorkResult | undefined }
  | { readonly ok: false; readonly error: unknown };

const attempt = async ({ handle }: WorkQueueOptions, key: string, signal: AbortSignal): Promise<Outcome> => {
  try {
    return { ok: true, result: (await handle(key, signal)) ?? undefined };
  } catch (error) {
    return { ok: false, error };
  }
};

const nextBackoff = (options: WorkQueueOptions, state: State, key: string): number => {
  const { backoffMinMs = 50, backoffMaxMs = 60_000, random = Math.random } = options;
  const failures = (state.failures.get(key) ?? 0) + 1;
  state.failures.set(key, failures);
  return backoffMs({ minMs: backoffMinMs, maxMs: backoffMaxMs, random }, failures);
};

const cancelWait = (state: State, key: string): void => {
  state.waiting.get(key)?.cancel();
  state.waiting.delete(key);
};

const whenIdle = (state: State, signal: AbortSignal | undefined): Promise<void> =>
  abortable(signal, (resolve) => {
    state.idleWaiters.add(resolve);
    settleIdle(state);
    return () => state.idleWaiters.delete(resolve);
  });

const settleIdle = (state: State): void => {
  if (state.queued.size + state.paced.size + state.working.size > 0) return;
  for (const onIdle of [...state.idleWaiters]) {
    state.idleWaiters.delete(onIdle);
    onIdle();
  }
};
