/**
 * Keeps one place as it is wanted: on change, when somebody else changed it, and on a slow timer. What fails is tried again
 * after a while that grows, and stops nothing else; what waits is looked at when the place says so.
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
  type State,
  type Status,
  worst,
} from '../../base/reconciler.ts';
import type { Backend, OutsideChange, ReconcileOutcome } from '../../datapath/backend.ts';
import { ItemStore } from '../desired/item-store.ts';
import { compareOwners } from '../features/owner-order.ts';
import { KeyRetries } from './key-retries.ts';
import { LoopProgress } from './loop-progress.ts';

export interface ReconcileLoopOptions<Item> {
  readonly keyOf: (item: Item) => string;
  readonly backend: Backend<Item>;
  readonly clock: Clock;
  readonly observe: (observation: LoopObservation) => void;
  /** How often everything is read anew and compared, milliseconds. */
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

const NONE: ReadonlyMap<string, string> = new Map();
const NO_KEYS: ReadonlySet<string> = new Set();
const FULL_EVERY_MS = 15_000;
/** By chance, so that many nodes do not try at the same moment. */
const RETRY = { minMs: 100, maxMs: 15_000, random: Math.random };
/** Who lets this place go first does not wait longer: it may not answer at all. */
const MAX_PRECEDENCE_MS = 200;

/** What a backend says of a key. */
type Verdict = Extract<State, 'failed' | 'waiting' | 'unsupported'>;

interface ItemProblem extends Status {
  readonly kind: Verdict;
}

export class ReconcileLoop<Item> implements Reconciler {
  readonly store: ItemStore<Item>;
  /** How many keys have which problem. Where there is no VRF, these are thousands. */
  readonly counts: Record<Verdict, number> = { failed: 0, waiting: 0, unsupported: 0 };
  readonly #problems = new Map<string, ItemProblem>();
  readonly #options: ReconcileLoopOptions<Item>;
  readonly #stop = new AbortController();
  readonly #unlisten: () => void;
  /** Keys to look at beside those that the store says. */
  #again = new Set<string>();
  readonly #retries: KeyRetries;
  readonly #progress: LoopProgress;
  /** How many keys are being looked at, and which of them because they changed. */
  #underWay = 0;
  #working: ReadonlySet<string> = NO_KEYS;
  readonly #lookListeners = new Set<LookListener>();
  /** What is looked at when a place that did not answer is asked again. */
  #later = new Set<string>();
  #fullLater = false;
  #full = true;
  #isComparing = false;
  /** The next full comparison is the timer's: what it writes without anything that is dirty was changed by somebody. */
  #isCheck = false;
  #prune = false;
  #started = false;
  #running: Promise<void> | undefined;
  #scheduled = false;
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

  /** From now on things are written; what is ours and nobody wants is removed. All that is wanted must be known. */
  start(): void {
    this.#started = true;
    this.#prune = true;
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
      isDesired: this.store.wanted.has(key),
      status: this.statusOf(key),
    }));
  }

  *desired(): Generator<Desired> {
    for (const key of this.store.wanted.keys())
      yield { key, owners: this.store.ownersOf(key), problem: this.#problems.get(key)?.message };
  }

  async differences(signal: AbortSignal): Promise<OwnedDifference[]> {
    const found = (await this.#options.backend.difference?.(this.store.wanted, signal)) ?? [];
    // What this machine cannot have at all is a problem of the node, and no difference that anything can be done about.
    return found
      .filter(({ key }) => this.#problems.get(key)?.kind !== 'unsupported')
      .map((one) => ({ ...one, owners: this.store.ownersOf(one.key), problem: this.#problems.get(one.key)?.message }));
  }

  queue(): QueueState {
    return this.#progress.state(this.#depth(), this.#started && (this.#scheduled || this.#running !== undefined));
  }

  #depth(): number {
    const all = this.#full || this.#fullLater ? this.store.wanted.size : 0;
    const some = this.store.dirty.size + this.#again.size + this.#later.size;
    return Math.max(all, some) + this.#underWay + this.#retries.pending;
  }

  /** False: it has changed since the place was last looked at for its sake. */
  #isLookedAt(key: string): boolean {
    if (!this.#progress.hasCompared) return false;
    return !this.#unseenKeys().some((keys) => keys.has(key));
  }

  #unseen(): Iterable<string> {
    return this.#progress.hasCompared ? this.#unseenKeys().flatMap((keys) => [...keys]) : this.store.wanted.keys();
  }

  #unseenKeys(): readonly ReadonlySet<string>[] {
    return [this.#again, this.#later, this.#working, this.store.dirty];
  }

  /** Told after each look at the place, also when it did not answer. @returns what ends it */
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
    if (!this.#started || this.#isComparing || this.#full || !this.#isBusy()) {
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
    if (cause === 'drift') this.#options.observe({ kind: 'drift', keys });
    this.#lookAgain(keys);
  }

  #lookAgain(keys: ReadonlySet<string> | 'all'): void {
    if (keys === 'all') this.#full = true;
    else for (const key of keys) this.#again.add(key);
    this.#schedule();
  }

  #schedule(): void {
    if (!this.#started || this.#scheduled || this.#stop.signal.aborted) return;
    this.#scheduled = true;
    this.#progress.begin();
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#running === undefined) this.#running = this.#run().then(() => this.#settle());
    });
  }

  async #run(): Promise<void> {
    for (;;) {
      const full = this.#full;
      const dirty = this.store.takeDirty();
      const keys = dirty.union(this.#again);
      const isCheck = this.#isCheck && keys.size === 0;
      this.#full = false;
      this.#isComparing = full;
      this.#isCheck = false;
      this.#again = new Set();
      if ((!full && keys.size === 0) || this.#stop.signal.aborted) break;
      if (!(await this.#reconcile(full ? 'all' : keys, keys, isCheck))) break;
    }
  }

  /** Not a part of `#run`, which may end before there is a promise of it. */
  #settle(): void {
    this.#running = undefined;
    this.#isComparing = false;
    this.#restIfDone();
    if (!this.#isBusy()) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #restIfDone(): void {
    if (!this.#isBusy() && this.#cancelRetry === undefined && this.#retries.pending === 0) this.#progress.idle();
  }

  /** False when the place did not answer: then the same again, later. */
  async #reconcile(keys: ReadonlySet<string> | 'all', dirty: ReadonlySet<string>, isCheck: boolean): Promise<boolean> {
    const { backend, clock, observe } = this.#options;
    const start = clock.monotonic();
    const looked = keys === 'all' ? this.store.wanted.size : keys.size;
    this.#underWay = looked;
    this.#working = dirty;
    let changed = NO_KEYS;
    try {
      const request = { wanted: this.store.wanted, keys, prune: this.#prune };
      const outcome = await backend.reconcile(request, this.#stop.signal);
      const { failed, waiting, written } = outcome;
      const counts = { failed: failed.size, waiting: waiting.size, written };
      this.#progress.done(keys === 'all');
      observe({ kind: 'reconciled', full: keys === 'all', keys: looked, ...counts, ms: clock.monotonic() - start });
      if (isCheck && written > 0) observe({ kind: 'drift', keys: 'all', count: written });
      changed = this.#remember(keys, outcome);
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
      this.#askLater(dirty, keys === 'all');
      return false;
    } finally {
      this.#underWay = 0;
      this.#working = NO_KEYS;
      for (const listener of this.#lookListeners) listener(changed);
    }
  }

  /** @returns the keys with which something else is the matter now */
  #remember(
    keys: ReadonlySet<string> | 'all',
    { failed, waiting, unsupported = NONE }: ReconcileOutcome,
  ): ReadonlySet<string> {
    // Of the keys that were looked at alone: where there is no VRF, thousands of others may be impossible.
    const before = new Map<string, ItemProblem>();
    for (const key of keys === 'all' ? [...this.#problems.keys()] : keys) {
      const problem = this.#problems.get(key);
      if (problem === undefined) continue;
      before.set(key, problem);
      this.#forget(key, problem);
    }
    const outcomes = [
      ['waiting', waiting] as const,
      ['unsupported', unsupported] as const,
      ['failed', failed] as const,
    ];
    for (const [kind, messages] of outcomes) {
      for (const [key, message] of messages) this.#set(key, { kind, message });
    }
    const looked = keys === 'all' ? new Set([...before.keys(), ...this.#problems.keys()]) : keys;
    return new Set([...looked].filter((key) => !isSame(before.get(key), this.#problems.get(key))));
  }

  #set(key: string, problem: ItemProblem): void {
    const before = this.#problems.get(key);
    if (before !== undefined) this.#forget(key, before);
    this.#problems.set(key, problem);
    this.counts[problem.kind]++;
  }

  #forget(key: string, { kind }: ItemProblem): void {
    this.#problems.delete(key);
    this.counts[kind]--;
  }

  #askLater(keys: Iterable<string>, full: boolean): void {
    for (const key of keys) this.#later.add(key);
    this.#fullLater ||= full;
    if (this.#cancelRetry !== undefined) return;
    this.#cancelRetry = this.#options.clock.schedule(this.#backoff.nextMs(), () => this.#askAgain());
  }

  #askAgain(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    const keys = this.#later;
    this.#later = new Set();
    this.#options.observe({ kind: 'retried', keys: this.#fullLater ? this.store.wanted.size : keys.size });
    if (this.#fullLater) this.#full = true;
    this.#fullLater = false;
    this.#lookAgain(keys);
  }

  #scheduleFull(): void {
    this.#cancelFull?.();
    this.#cancelFull = this.#options.clock.schedule(this.#options.fullEveryMs ?? FULL_EVERY_MS, () => {
      // One that is to come for another reason is none.
      this.#isCheck = !this.#full;
      this.#full = true;
      this.#schedule();
    });
  }

  #isBusy(): boolean {
    return !this.#started || this.#scheduled || this.#running !== undefined || this.#full || this.#again.size > 0;
  }
}

const isSame = (a: Status | undefined, b: Status | undefined): boolean =>
  a?.kind === b?.kind && a?.message === b?.message;
