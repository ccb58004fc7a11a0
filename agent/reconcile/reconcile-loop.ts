/**
 * Keeps one backend as it is desired: on change, when another program changed it, and on a slow timer. What fails is retried
 * with backoff, and stops nothing else; what waits is looked at when the backend reports it.
 *
 * Over 300 lines: one state machine. What knows nothing of its phases is in `key-problems.ts`, `key-retries.ts` and `loop-progress.ts`.
 */
import { unlessAborted } from '../../base/abort.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import {
  type Desired,
  DONE,
  type OwnedDifference,
  type Problem,
  type QueueState,
  type Reconciler,
  type Status,
  worst,
} from '../../base/reconciler.ts';
import type { Backend, OutsideChange, ReconcileOutcome } from '../../datapath/backend.ts';
import { ItemStore } from '../desired/item-store.ts';
import { compareOwners } from '../features/owner-order.ts';
import { KeyProblems } from './key-problems.ts';
import { KeyRetries } from './key-retries.ts';
import { LoopProgress } from './loop-progress.ts';

export interface ReconcileLoopOptions<Item> {
  readonly keyOf: (item: Item) => string;
  readonly backend: Backend<Item>;
  readonly clock: Clock;
  readonly observe: (observation: LoopObservation) => void;
  /** How often everything is read again and compared, milliseconds. */
  readonly fullEveryMs?: number;
}

export type LoopObservation =
  | {
      readonly kind: 'reconciled';
      readonly full: boolean;
      readonly keys: number;
      readonly written: number;
      readonly failed: number;
      readonly waiting: number;
      readonly ms: number;
    }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** What had failed before is looked at once more. */
  | { readonly kind: 'retried'; readonly keys: number }
  /** Somebody changed what is ours; `count` where no event said so, but the slow timer found it. */
  | { readonly kind: 'drift'; readonly keys: ReadonlySet<string> | 'all'; readonly count?: number };

/** @param changed keys with which something else is the matter than before */
export type LookListener = (changed: ReadonlySet<string>) => void;

const NO_KEYS: ReadonlySet<string> = new Set();
const FULL_EVERY_MS = 15_000;
/** By chance, so that many nodes do not try at the same moment. */
const RETRY = { minMs: 100, maxMs: 15_000, random: Math.random };
/** What lets this backend go first waits no longer: it may not answer at all. */
const MAX_PRECEDENCE_MS = 200;

/** `scheduled`: soon it looks at what is next. */
type Phase = 'new' | 'idle' | 'scheduled' | 'comparing' | 'applying';

interface Look {
  readonly keys: Set<string>;
  /** `check`: everything, by the timer alone; what is written without anything that is dirty was changed by somebody. */
  scope: 'changes' | 'check' | 'everything';
}

export class ReconcileLoop<Item> implements Reconciler {
  readonly store: ItemStore<Item>;
  readonly #problems = new KeyProblems();
  readonly #options: ReconcileLoopOptions<Item>;
  readonly #stop = new AbortController();
  readonly #unlisten: () => void;
  readonly #retries: KeyRetries;
  readonly #progress: LoopProgress;
  readonly #lookListeners = new Set<LookListener>();
  #phase: Phase = 'new';
  #running = Promise.resolve();
  /** What is to be looked at beside the dirty keys of the store. */
  #next: Look = { keys: new Set(), scope: 'everything' };
  /** What is looked at when a backend that did not answer is asked again. */
  #later: Look = { keys: new Set(), scope: 'changes' };
  /** Keys that are being looked at because they changed. */
  #working: ReadonlySet<string> = NO_KEYS;
  readonly #backoff = new Backoff(RETRY);
  #cancelRetry: (() => void) | undefined;
  #cancelFull: (() => void) | undefined;
  #idleWaiters: (() => void)[] = [];

  constructor(options: ReconcileLoopOptions<Item>) {
    this.#options = options;
    this.#progress = new LoopProgress(options.clock);
    this.store = new ItemStore(options.keyOf, () => this.#schedule(), compareOwners);
    this.#retries = new KeyRetries({
      clock: options.clock,
      backoff: RETRY,
      retry: (keys) => {
        options.observe({ kind: 'retried', keys: keys.size });
        this.#lookAgain(keys);
      },
    });
    this.#unlisten = options.backend.listen((change) => this.#onOutside(change));
  }

  /** How many keys have which problem. */
  get counts(): KeyProblems['counts'] {
    return this.#problems.counts;
  }

  /** From now on things are written; owned state that is not desired is removed. The whole desired state must be known. */
  start(): void {
    if (this.#phase !== 'new') return;
    this.#phase = 'idle';
    this.#schedule();
  }

  /** What this machine cannot have keeps no owner from being done: it is a problem of the node. */
  status(owner: string): Status {
    if (this.#problems.size === 0 && this.#depth() === 0) return DONE;
    const statuses = Array.from(this.store.keysOf(owner), (key) => this.statusOf(key));
    return worst(statuses.filter(({ kind }) => kind !== 'unsupported'));
  }

  statusOf(key: string): Status {
    const problem = this.#problems.get(key) ?? DONE;
    if (this.#isLookedAt(key)) return problem;
    return worst([problem, { kind: 'pending', message: this.queue().failing?.message }]);
  }

  problems(): Problem[] {
    return [...new Set([...this.#problems.keys(), ...this.#unseen()])].map((key) => ({
      owner: this.store.ownersOf(key)[0] ?? key,
      key,
      isDesired: this.store.desired.has(key),
      status: this.statusOf(key),
    }));
  }

  *desired(): Generator<Desired> {
    for (const key of this.store.desired.keys())
      yield { key, owners: this.store.ownersOf(key), problem: this.#problems.get(key)?.message };
  }

  async differences(signal: AbortSignal): Promise<OwnedDifference[]> {
    const found = (await this.#options.backend.difference?.(this.store.desired, signal)) ?? [];
    // What this machine cannot have at all is a problem of the node, and no difference that anything can be done about.
    return found
      .filter(({ key }) => this.#problems.get(key)?.kind !== 'unsupported')
      .map((one) => ({ ...one, owners: this.store.ownersOf(one.key), problem: this.#problems.get(one.key)?.message }));
  }

  queue(): QueueState {
    return this.#progress.state(this.#depth(), this.#phase !== 'new' && this.#phase !== 'idle');
  }

  #depth(): number {
    const { size } = this.store.desired;
    const all = [this.#next, this.#later].some(({ scope }) => scope !== 'changes') ? size : 0;
    const some = this.store.dirty.size + this.#next.keys.size + this.#later.keys.size;
    const underWay = this.#phase === 'comparing' ? size : this.#working.size;
    return Math.max(all, some) + underWay + this.#retries.pending;
  }

  /** False: it has changed since the backend was last looked at for its sake. */
  #isLookedAt(key: string): boolean {
    if (!this.#progress.hasCompared) return false;
    return !this.#unseenKeys().some((keys) => keys.has(key));
  }

  #unseen(): Iterable<string> {
    return this.#progress.hasCompared ? this.#unseenKeys().flatMap((keys) => [...keys]) : this.store.desired.keys();
  }

  #unseenKeys(): readonly ReadonlySet<string>[] {
    return [this.#next.keys, this.#later.keys, this.#working, this.store.dirty];
  }

  /** Called after each look at the backend, also when it did not answer. @returns what ends it */
  onLook(listener: LookListener): () => void {
    this.#lookListeners.add(listener);
    return () => this.#lookListeners.delete(listener);
  }

  /** Resolves when there is nothing to do, whatever waits or fails. */
  whenIdle(signal?: AbortSignal): Promise<void> {
    if (!this.#isBusy()) return Promise.resolve();
    return unlessAborted(signal, new Promise((resolve) => this.#idleWaiters.push(resolve)));
  }

  /**
   * Calls back when the changes that are known are written, or soon if that takes long. At once while everything is compared:
   * nobody is to wait for that.
   */
  afterWrites(callback: () => void): void {
    const isComparing = this.#phase === 'comparing' || this.#next.scope !== 'changes';
    if (this.#phase === 'new' || isComparing || !this.#isBusy()) {
      callback();
      return;
    }
    let isCalled = false;
    const run = (): void => {
      if (isCalled) return;
      isCalled = true;
      cancel();
      callback();
    };
    const cancel = this.#options.clock.schedule(MAX_PRECEDENCE_MS, run);
    this.#idleWaiters.push(run);
  }

  /** Ends; what is there stays. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#unlisten();
    this.#retries.stop();
    this.#cancelRetry?.();
    this.#cancelFull?.();
    await this.#running;
    await this.#options.backend.close();
  }

  #onOutside({ cause, keys }: OutsideChange): void {
    const changed = keys === 'all' ? keys : this.#unchangedByUs(keys);
    if (cause === 'drift' && (changed === 'all' || changed.size > 0)) {
      this.#options.observe({ kind: 'drift', keys: changed });
    }
    this.#lookAgain(keys);
  }

  /** A backend may hear of a key that is desired otherwise by now, and has not been looked at since. */
  #unchangedByUs(keys: ReadonlySet<string>): ReadonlySet<string> {
    return keys.difference(this.store.dirty).difference(this.#working);
  }

  #lookAgain(keys: ReadonlySet<string> | 'all'): void {
    if (keys === 'all') this.#next.scope = 'everything';
    else for (const key of keys) this.#next.keys.add(key);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#phase !== 'idle' || this.#stop.signal.aborted) return;
    this.#phase = 'scheduled';
    this.#progress.begin();
    setImmediate(() => {
      this.#running = this.#run().then(() => this.#settle());
    });
  }

  async #run(): Promise<void> {
    for (;;) {
      const { keys, scope } = this.#next;
      const dirty = this.store.takeDirty().union(keys);
      this.#next = { keys: new Set(), scope: 'changes' };
      if ((scope === 'changes' && dirty.size === 0) || this.#stop.signal.aborted) break;
      if (!(await this.#reconcile(scope, dirty))) break;
    }
  }

  /** Not a part of `#run`: something may come between its last look and its end. */
  #settle(): void {
    this.#phase = 'idle';
    if (this.store.dirty.size > 0 || this.#isBusy()) this.#schedule();
    this.#restIfDone();
    if (!this.#isBusy()) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #restIfDone(): void {
    if (!this.#isBusy() && this.#cancelRetry === undefined && this.#retries.pending === 0) this.#progress.idle();
  }

  /** False when the backend did not answer: then the same again, later. */
  async #reconcile(scope: Look['scope'], dirty: ReadonlySet<string>): Promise<boolean> {
    const { backend, clock, observe } = this.#options;
    const start = clock.monotonic();
    const keys: ReadonlySet<string> | 'all' = scope === 'changes' ? dirty : 'all';
    const looked = keys === 'all' ? this.store.desired.size : keys.size;
    this.#phase = keys === 'all' ? 'comparing' : 'applying';
    this.#working = dirty;
    let changed = NO_KEYS;
    try {
      const request = { desired: this.store.desired, keys, prune: true };
      const outcome = await backend.reconcile(request, this.#stop.signal);
      const { failed, waiting, written } = outcome;
      const counts = { failed: failed.size, waiting: waiting.size, written };
      this.#progress.done(keys === 'all');
      observe({ kind: 'reconciled', full: keys === 'all', keys: looked, ...counts, ms: clock.monotonic() - start });
      if (scope === 'check' && dirty.size === 0 && written > 0) this.#reportChecked(outcome);
      changed = this.#problems.remember(keys, outcome);
      if (keys === 'all') this.#scheduleFull();
      this.#retries.looked(keys, new Set(failed.keys()));
      this.#backoff.reset();
      // It answers again: what could not be looked at need not wait any longer.
      if (this.#cancelRetry !== undefined) this.#askAgain();
      return true;
    } catch (error) {
      if (this.#stop.signal.aborted) return false;
      this.#progress.failed(error);
      observe({ kind: 'failed', error });
      this.#askLater(dirty, scope);
      return false;
    } finally {
      this.#phase = 'scheduled';
      this.#working = NO_KEYS;
      for (const listener of this.#lookListeners) listener(changed);
    }
  }

  /** What came during a look may be written by it already: a backend reads first, and compares with what is desired then. */
  #reportChecked({ written, writtenKeys }: ReconcileOutcome): void {
    if (this.#next.scope !== 'changes') return;
    const news = this.store.dirty.union(this.#next.keys);
    const changed = writtenKeys?.difference(news);
    // Too many to be named: at most the news are our own.
    const count = changed?.size ?? written - news.size;
    if (count > 0) this.#options.observe({ kind: 'drift', keys: changed ?? 'all', count });
  }

  #askLater(keys: Iterable<string>, scope: Look['scope']): void {
    for (const key of keys) this.#later.keys.add(key);
    if (scope !== 'changes') this.#later.scope = 'everything';
    if (this.#cancelRetry !== undefined) return;
    this.#cancelRetry = this.#options.clock.schedule(this.#backoff.nextMs(), () => this.#askAgain());
  }

  #askAgain(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    const { keys, scope } = this.#later;
    this.#later = { keys: new Set(), scope: 'changes' };
    this.#options.observe({ kind: 'retried', keys: scope === 'changes' ? keys.size : this.store.desired.size });
    if (scope !== 'changes') this.#next.scope = scope;
    this.#lookAgain(keys);
  }

  #scheduleFull(): void {
    this.#cancelFull?.();
    this.#cancelFull = this.#options.clock.schedule(this.#options.fullEveryMs ?? FULL_EVERY_MS, () => {
      // One that is to come for another reason is none.
      if (this.#next.scope === 'changes') this.#next.scope = 'check';
      this.#schedule();
    });
  }

  #isBusy(): boolean {
    return this.#phase !== 'idle' || this.#next.scope !== 'changes' || this.#next.keys.size > 0;
  }
}
