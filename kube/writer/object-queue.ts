/** Sends operations: one at a time per object, a bounded number at once, again when it may help. */
import { backoffMs } from '../../base/backoff.ts';
import { type Clock, delay } from '../../base/clock.ts';
import { isAlreadyExists, isConflict, isFieldManagerConflict, isTransient, KubeError } from '../errors.ts';
import { refKey } from '../object-key.ts';
import { isAway, type Outage } from '../outage.ts';
import type { KubeObject } from '../types.ts';
import { combine, isNamespace, laneOf, targetKey, type WriteOperation } from './operations.ts';
import { createSemaphore } from './semaphore.ts';
import type { WriterObservation } from './types.ts';
import { createWish, type Wish } from './wish.ts';

export interface ObjectQueueOptions {
  readonly send: (operation: WriteOperation, signal: AbortSignal) => Promise<KubeObject>;
  readonly concurrency: number;
  readonly perNamespace: number | undefined;
  readonly giveUpAfterMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly outage: Outage;
  readonly observe: (observation: WriterObservation) => void;
}

export interface ObjectQueue {
  submit(operation: WriteOperation, signal?: AbortSignal): Promise<KubeObject>;
  idle(): Promise<void>;
}

export const createObjectQueue = (options: ObjectQueueOptions): ObjectQueue => {
  /** What waits, per object, in order. An object is here as long as something of it waits or is under way. */
  const objects = new Map<string, Wish[]>();
  const { concurrency, perNamespace = concurrency } = options;
  const semaphore = createSemaphore(concurrency, (lane) => (isNamespace(lane) ? perNamespace : concurrency));
  const idleWaiters: (() => void)[] = [];

  const run = async (key: string, waiting: Wish[]): Promise<void> => {
    // The end of this turn of the event loop: until then, wishes of the object come together.
    await new Promise((resolve) => setImmediate(resolve));
    for (let wish = waiting.shift(); wish !== undefined; wish = waiting.shift()) {
      const { ms, isAway } = await semaphore.run(laneOf(wish.operation), () => attempt(options, wish, waiting));
      // Nobody waits for what is next any more: then there is nothing to wait with either.
      const signal = waiting[0]?.signal;
      if (ms > 0 && isAway) await options.outage.wait(ms, signal);
      else if (ms > 0) await delay(options.clock, ms, signal).catch(() => {});
    }
    objects.delete(key);
    if (objects.size === 0) for (const resolve of idleWaiters.splice(0)) resolve();
  };

  return {
    submit: (operation, signal) => {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const key = targetKey(operation);
      const waiting = objects.get(key) ?? [];
      const result = enqueue(options, waiting, operation, signal);
      if (!objects.has(key)) {
        objects.set(key, waiting);
        void run(key, waiting);
      }
      return result;
    },
    idle: () => (objects.size === 0 ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(resolve))),
  };
};

const enqueue = (
  { clock, observe }: ObjectQueueOptions,
  waiting: Wish[],
  operation: WriteOperation,
  signal: AbortSignal | undefined,
): Promise<KubeObject> => {
  const last = waiting.at(-1);
  const combined = last === undefined ? undefined : combine(last.operation, operation);
  if (last !== undefined && combined !== undefined) {
    observe({ kind: 'coalesced', resource: operation.resource, key: refKey(operation.ref) });
    last.operation = combined;
    return last.join(signal);
  }
  const wish = createWish(operation, clock.monotonic());
  waiting.push(wish);
  return wish.join(signal);
};

/** Before the object's next request. */
interface Pause {
  readonly ms: number;
  /** The server is: it ends when somebody hears of it. */
  readonly isAway: boolean;
}

const NO_PAUSE: Pause = { ms: 0, isAway: false };

/** The wish is back in `waiting` when it must be retried. */
const attempt = async (options: ObjectQueueOptions, wish: Wish, waiting: Wish[]): Promise<Pause> => {
  if (wish.abandoned) return NO_PAUSE;
  const { clock, observe } = options;
  const { operation } = wish;
  const about = { resource: operation.resource, key: refKey(operation.ref) };
  const started = clock.monotonic();
  try {
    const object = await options.send(operation, wish.signal);
    observe({ kind: 'written', ...about, milliseconds: clock.monotonic() - started });
    options.outage.answered();
    wish.resolve(object);
    return NO_PAUSE;
  } catch (error) {
    if (wish.abandoned) return NO_PAUSE;
    if (!isAway(error)) options.outage.answered(error);
    wish.failures += 1;
    if (!mayRetry(options, wish, error)) {
      if (!isAlreadyExists(error)) observe({ kind: 'failed', ...about, error });
      wish.reject(error);
      return NO_PAUSE;
    }
    const retryInMs = retryWait(options, wish.failures, error);
    observe({ kind: 'retrying', ...about, error, retryInMs });
    putBack(wish, waiting);
    return { ms: retryInMs, isAway: isAway(error) };
  }
};

const mayRetry = ({ clock, giveUpAfterMs }: ObjectQueueOptions, wish: Wish, error: unknown): boolean =>
  clock.monotonic() - wish.since < giveUpAfterMs &&
  (isTransient(error) || (isConflict(error) && !isFieldManagerConflict(error) && !hasResourceVersion(wish.operation)));

/** A caller that names a version wants to hear that it is not the current one. */
const hasResourceVersion = (operation: WriteOperation): boolean => {
  const body = operation.kind === 'apply' ? operation.body : operation.kind === 'merge' ? operation.patch : {};
  const metadata = body['metadata'];
  return typeof metadata === 'object' && metadata !== null && 'resourceVersion' in metadata;
};

const retryWait = ({ random }: ObjectQueueOptions, failures: number, error: unknown): number =>
  Math.max(
    error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0,
    backoffMs({ minMs: 100, maxMs: 15_000, random }, failures),
  );

/** In front, as part of the newer wish that came meanwhile where they are one request. */
const putBack = (wish: Wish, waiting: Wish[]): void => {
  const next = waiting[0];
  const combined = next === undefined ? undefined : combine(wish.operation, next.operation);
  if (next === undefined || combined === undefined) waiting.unshift(wish);
  else {
    next.operation = combined;
    next.failures = wish.failures;
    next.adopt(wish);
  }
};
