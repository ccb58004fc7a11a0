import type { Clock } from '../../base/clock.ts';
import type { Outage } from '../outage.ts';
import type { KubeClient, KubeObject, ObjectKey, ResourceType } from '../types.ts';

export interface ReflectorOptions<T, I extends string = never> {
  readonly client: Pick<KubeClient, 'list' | 'watch' | 'request'>;
  readonly resource: ResourceType;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /**
   * What is kept of an object; the object itself is not. Undefined: this object is of no interest, as if it did not
   * exist. Pure: it may be called with the same object again. When it throws, the object is bad: it leaves the store
   * until a later version of it can be read, and nothing else is affected.
   * @param before what is kept of an earlier version: parts that are the same need not be read again
   */
  readonly project: (object: KubeObject, before?: T) => T | undefined;
  /** Whether a change of the object is one of the projection. Default: deep equality. */
  readonly equal?: ((a: T, b: T) => boolean) | undefined;
  /** Under which keys a value is found by `byIndex`. */
  readonly indexes?: Readonly<Record<I, (value: T, key: ObjectKey) => readonly string[]>> | undefined;
  /**
   * The resource may not be served (a CRD that is not installed): that counts as synced and empty once the
   * server's own lists of what it serves lack it, too, and is asked for again from time to time. Default false: it is waited for.
   */
  readonly optional?: boolean | undefined;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  /** Called with everything that operators want to see. Must not throw. */
  readonly observe?: ((observation: ReflectorObservation) => void) | undefined;
  /** Of the server, when others use it too. */
  readonly outage?: Outage | undefined;
  readonly clock?: Clock | undefined;
  /** In [0, 1). */
  readonly random?: (() => number) | undefined;
}

export interface ReflectorTimings {
  /** Items per page of a list. 500. */
  readonly pageSize: number;
  /** Silence, bookmarks included, after which a watch is taken for dead. The server sends a bookmark a minute. 90 s. */
  readonly idleMs: number;
  /** A watch is asked to end after a random time in this range. 240 s and 480 s. */
  readonly watchMinSeconds: number;
  readonly watchMaxSeconds: number;
  /** Between failures, doubled each time and jittered, unless a server that was away is back before. 0.5 s and 30 s. */
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  /** Until an optional resource that is not served is asked for again. 30 s. */
  readonly absentMs: number;
  /** Until it is asked for again while nobody knows yet whether it is served: what is not there is known after three of these. 0.5 s. */
  readonly doubtMs: number;
}

/** A change of what is stored. `before` is absent for added, `after` for deleted. */
export type Change<T> =
  | { readonly type: 'added'; readonly key: ObjectKey; readonly before?: undefined; readonly after: T }
  | { readonly type: 'updated'; readonly key: ObjectKey; readonly before: T; readonly after: T }
  | { readonly type: 'deleted'; readonly key: ObjectKey; readonly before: T; readonly after?: undefined };

/** Called after the store and its indexes have changed. One that throws is reported and the others are still called. */
export type ChangeHandler<T> = (change: Change<T>) => void;

export interface BadObject {
  readonly key: ObjectKey;
  /** What the projection threw. */
  readonly reason: Error;
  readonly resourceVersion: string;
}

export type ReflectorObservation =
  | { readonly kind: 'listed'; readonly items: number; readonly pages: number; readonly milliseconds: number }
  /** The resource is not served, and the options of the reflector allow that. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'relist'; readonly reason: string }
  | { readonly kind: 'watch-started'; readonly resourceVersion: string }
  | { readonly kind: 'watch-ended'; readonly reason: 'closed' | 'idle' }
  | { readonly kind: 'event'; readonly type: 'added' | 'modified' | 'deleted' | 'bookmark' }
  | { readonly kind: 'failed'; readonly phase: 'list' | 'watch'; readonly error: unknown; readonly retryInMs: number }
  | ({ readonly kind: 'bad' } & BadObject)
  /** A bad object can be read again, or is gone. */
  | { readonly kind: 'recovered'; readonly key: ObjectKey }
  | { readonly kind: 'handler-failed'; readonly key: ObjectKey; readonly error: unknown };

/** What readers of mirrored objects need; a Reflector is one, and so is `createStaticCache` for tests and files. */
export interface ObjectCache<T, I extends string = never> {
  get(key: ObjectKey): T | undefined;
  has(key: ObjectKey): boolean;
  keys(): IterableIterator<ObjectKey>;
  values(): IterableIterator<T>;
  entries(): IterableIterator<[ObjectKey, T]>;
  readonly size: number;
  /** The objects whose index function returned `indexKey`, in no particular order. */
  byIndex(index: I, indexKey: string): readonly T[];
  keysByIndex(index: I, indexKey: string): readonly ObjectKey[];
  /**
   * Replays what is stored as `added` before it returns, then every change in order.
   * @returns what ends the subscription
   */
  subscribe(handler: ChangeHandler<T>): () => void;
  /** True once a list has been read completely; stays true. */
  readonly synced: boolean;
  /** @throws the signal's reason */
  whenSynced(signal?: AbortSignal): Promise<void>;
}

/**
 * Mirrors a resource. It heals by itself from everything: resets, silence, expiry, garbage, overload. What it holds is
 * what the server held a moment ago; after an outage the difference arrives as changes.
 */
export interface Reflector<T, I extends string = never> extends ObjectCache<T, I> {
  /** Mirrors until `signal` aborts, then resolves. To be called once. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** The objects that could not be projected, by key. */
  readonly bad: ReadonlyMap<ObjectKey, BadObject>;
  /** Milliseconds since the server was last heard of: what a readiness check looks at. Infinity before the first time. */
  silenceMs(): number;
}
