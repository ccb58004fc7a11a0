import type { Clock } from '../../base/clock.ts';
import type { Rate } from '../token-buckets.ts';

export interface WorkQueueOptions {
  /** Runs for one key at a time; other keys run beside it. Rejecting requeues the key with exponential backoff. */
  readonly handle: (key: string, signal: AbortSignal) => Promise<WorkResult | undefined> | Promise<void>;
  /** Keys in work at once. Default 1. */
  readonly concurrency?: number | undefined;
  /** Keys of one lane are worked on in order; whose turn it is goes round the lanes. Default: all are in one. */
  readonly laneOf?: ((key: string) => string) | undefined;
  /** Keys of one lane in work at once: those that take long leave room for others. Default: `concurrency`. */
  readonly perLane?: number | undefined;
  /** How often one key is worked on: one that is added again and again waits, and what came meanwhile is worked on at once. */
  readonly pace?: Rate | undefined;
  /** Backoff of a key after its n-th failure in a row: `min * 2^(n-1)`, at most `max`, jittered. 50 ms and 60 s. */
  readonly backoffMinMs?: number | undefined;
  readonly backoffMaxMs?: number | undefined;
  readonly observe?: ((observation: WorkQueueObservation) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

export interface WorkResult {
  /** Work on the key again after this time. It is not a failure. */
  readonly requeueAfterMs: number;
}

export type WorkQueueObservation =
  | { readonly kind: 'done'; readonly key: string; readonly milliseconds: number; readonly waitedMs: number }
  | { readonly kind: 'failed'; readonly key: string; readonly error: unknown; readonly retryInMs: number };

/**
 * Keys to work on. A key that is queued already is not queued again; one that is added while it is worked on is worked
 * on once more afterwards. Nothing is worked on before `run`.
 */
export interface WorkQueue {
  /** Also ends a backoff: new information may be what the retry waits for. */
  add(key: string): void;
  /** Adds the key after a while, unless it is added before. */
  addAfter(key: string, milliseconds: number): void;
  /** Works until `signal` aborts and what is under way has ended. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Keys that wait for a worker or for their pace, keys in work, and keys that wait for a time. */
  counts(): { readonly queued: number; readonly working: number; readonly waiting: number };
  /** Failures in a row of a key. */
  failures(key: string): number;
  /** Resolves when no key is queued or in work; keys that wait for a time do not count. */
  idle(signal?: AbortSignal): Promise<void>;
}
