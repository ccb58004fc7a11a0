/**
 * Keeps the NetworkIdPool: which network ids may be in use anywhere, written down before any of them is assigned (ADR 63). An
 * id of a deleted network is retired there, agents answer with the number of the retirement in their reports, and the id is
 * free when every report is as late and does not list it, or is gone with its Node.
 */
import { NETWORK_ID_POOL } from '../../api/network-id-pool.ts';
import { NETWORK_ID_POOLS } from '../../api/resources.ts';
import { onAbort } from '../../base/abort.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts';
import type { KubeClient, ObjectInput } from '../../kube/types.ts';
import type { IdRecord, RecordPlan } from '../allocation/id-record.ts';
import type { ReportFacts } from '../facts/report-facts.ts';
import {
  adoptPool,
  type FoundPool,
  findOrMakePool,
  findPool,
  heldByNode,
  holdersIn,
  listedIn,
  meaningOf,
  readReports,
} from './id-pool.ts';

export interface IdKeeperOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update' | 'list'>;
  readonly clock: Clock;
  /** Of the nodes, as far as they can be read. */
  readonly reports: () => Iterable<ReportFacts>;
  readonly record: IdRecord;
  /** When the program started. */
  readonly found: FoundPool;
  /** More ids are assignable than before. */
  readonly came: () => void;
  /** Called after each look with the nodes that hold ids of deleted networks for long. */
  readonly onHeld: (held: ReadonlyMap<string, readonly number[]>) => void;
  readonly observe: (observation: IdObservation) => void;
}

export type IdObservation =
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Nobody knows what was written down: no id is assigned again before all nodes have reported. */
  | { readonly kind: 'lost'; readonly error: unknown }
  /** The API server has no such kind: a cluster of before. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'freed'; readonly ids: readonly number[] };

/** Ids that are written down at once; twice as many each time, as long as they are used up. */
const FIRST_AHEAD = 4;
const LAST_AHEAD = 64;
/** What goes together is retired together. */
const RETIRE_MS = 1_000;
const REVIEW_MS = 1_000;
/** An agent that is well answers in seconds. */
const LONG_MS = 60_000;
/** So long a network's turn waits for its id. */
const WAIT_MS = 2_000;
const RETRY = { minMs: 500, maxMs: 15_000 };
/** Failures in a row: what has failed for as long as anybody waits will not be there in time. */
const HOPELESS = 3;

export class IdKeeper {
  readonly #options: IdKeeperOptions;
  readonly #record: IdRecord;
  readonly #signal: AbortSignal;
  readonly #timers = new Set<() => void>();
  /** What is to be done after a while. */
  readonly #due = new Set<string>();
  #resourceVersion: string | undefined;
  /** The meaning of the pool in the API; undefined: unknown, also until a write is answered. */
  #stored: string | undefined;
  #ahead = FIRST_AHEAD;
  readonly #waiting = new Set<() => void>();
  #writing: Promise<void> | undefined;
  #reviewing: Promise<void> | undefined;
  #isReviewAsked = false;
  readonly #backoff = new Backoff(RETRY);

  constructor(options: IdKeeperOptions, signal: AbortSignal) {
    this.#options = options;
    this.#record = options.record;
    this.#remember(options.found);
    this.#signal = signal;
    onAbort(signal, () => this.#end());
    this.look();
  }

  /** Something was assigned or released: what has to be written is, in a moment. */
  look(): void {
    if (!this.#record.isKept || this.#signal.aborted) return;
    if (this.#record.isChanged) this.#later('write', RETIRE_MS, () => this.#write());
    if (this.#record.desired > 0) this.#write();
    if (this.#ahead > FIRST_AHEAD && this.#record.ahead < this.#ahead / 2) this.#write();
  }

  /** A report came, changed or went. */
  reported(): void {
    if (this.#record.retired.size === 0) return;
    this.#later('review', REVIEW_MS, () => this.#review());
  }

  /**
   * Resolves when an id can be assigned, when there is none, or when that takes too long: where nothing can be written down,
   * networks that have their ids are not held up by those that have none.
   */
  async available(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const until = clock.monotonic() + WAIT_MS;
    while (this.#isAboutToCome && !signal.aborted && clock.monotonic() < until) {
      await this.#woken(until - clock.monotonic(), signal);
    }
  }

  get #isAboutToCome(): boolean {
    const { isKept, hasNext, hasMore } = this.#record;
    return isKept && !hasNext && hasMore && this.#backoff.failures < HOPELESS && !this.#signal.aborted;
  }

  async #woken(milliseconds: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const cancel = this.#options.clock.schedule(milliseconds, wake);
    const stopListening = onAbort(signal, wake);
    this.#waiting.add(wake);
    this.#write();
    await promise;
    cancel();
    stopListening();
    this.#waiting.delete(wake);
  }

  async idle(): Promise<void> {
    while (this.#writing !== undefined || this.#reviewing !== undefined) {
      await this.#writing;
      await this.#reviewing;
    }
  }

  #later(what: string, ms: number, run: () => void): void {
    if (this.#due.has(what) || this.#signal.aborted) return;
    this.#due.add(what);
    const cancel = this.#options.clock.schedule(ms, () => {
      this.#due.delete(what);
      this.#timers.delete(cancel);
      run();
    });
    this.#timers.add(cancel);
  }

  #write(): void {
    // Whoever waits, what failed a moment ago is not tried again at once.
    if (this.#writing !== undefined || this.#due.has('retry') || this.#signal.aborted) return;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = undefined;
      this.look();
      if (this.#waiting.size > 0) this.#write();
    });
  }

  async #writeAll(): Promise<void> {
    const { clock, observe } = this.#options;
    const demand = Math.min(this.#waiting.size + this.#record.desired, LAST_AHEAD);
    const more = demand === 0 && this.#ahead === FIRST_AHEAD ? 0 : Math.max(this.#ahead, demand * 2);
    const plan = this.#record.plan(more, timeOf(clock.wall()));
    try {
      await this.#send(plan);
      // It is not, where there turned out to be no place for it.
      if (this.#record.isKept) this.#record.commit(plan);
      if (demand > 0) this.#ahead = Math.min(this.#ahead * 2, LAST_AHEAD);
      this.#backoff.reset();
      this.#wake();
      this.reported();
    } catch (error) {
      this.#record.undo(plan, messageOf(error));
      if (this.#signal.aborted) return;
      observe({ kind: 'failed', error });
      this.#later('retry', this.#backoff.nextMs(), () => this.#write());
    }
  }

  #remember({ resourceVersion, status }: FoundPool): void {
    this.#resourceVersion = resourceVersion;
    this.#stored = status && meaningOf(status);
  }

  /** Sends nothing where the pool says that already, as after a start. @throws KubeError */
  async #send(plan: RecordPlan): Promise<void> {
    const { client, observe } = this.#options;
    const meaning = meaningOf(plan.status);
    if (meaning === this.#stored) return;
    this.#stored = undefined;
    const version = this.#resourceVersion !== undefined && { resourceVersion: this.#resourceVersion };
    const body: ObjectInput = { metadata: { name: NETWORK_ID_POOL, ...version }, status: plan.status };
    try {
      const write = this.#resourceVersion === undefined ? client.create : client.update;
      const written = await write(NETWORK_ID_POOLS, body, {}, this.#signal);
      this.#resourceVersion = written.metadata.resourceVersion;
      this.#stored = meaning;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) await this.#meetOther();
      else if (isNotFound(error) && this.#resourceVersion !== undefined) this.#resourceVersion = undefined;
      else if (isNotFound(error)) {
        this.#record.drop();
        observe({ kind: 'absent' });
        this.#later('lookup', RETRY.maxMs, () => void this.#lookUp());
        this.#wake();
        return;
      }
      throw error;
    }
  }

  /** Somebody else has written: one that led before, or this one, without an answer. What it has given is not forgotten. */
  async #meetOther(): Promise<void> {
    const found = await findPool(this.#options.client, this.#signal);
    this.#remember(found);
    if (found.error !== undefined) this.#record.suspectAll(0);
    else this.#record.adopt(found.status);
  }

  /** Where there was no such kind, there may be one by now, or a server that knows it. */
  async #lookUp(): Promise<void> {
    const { client, reports, observe } = this.#options;
    try {
      const found = await findOrMakePool(client, this.#signal);
      this.#remember(found);
      const lost = adoptPool(this.#record, found, [...reports()]);
      // What was given meanwhile is not written down, and may be on nodes.
      for (const report of reports()) this.#record.suspect(listedIn(report));
      if (lost !== undefined) observe({ kind: 'lost', error: lost });
      this.look();
      this.reported();
    } catch (error) {
      if (this.#signal.aborted) return;
      if (!isNotFound(error)) observe({ kind: 'failed', error });
      this.#later('lookup', RETRY.maxMs, () => void this.#lookUp());
    }
  }

  #wake(): void {
    this.#wakeAll();
    this.#options.came();
  }

  #review(): void {
    if (this.#signal.aborted) return;
    this.#isReviewAsked = true;
    this.#reviewing ??= this.#reviewAll().finally(() => {
      this.#reviewing = undefined;
    });
  }

  async #reviewAll(): Promise<void> {
    const { client, reports, observe } = this.#options;
    while (this.#isReviewAsked && !this.#signal.aborted) {
      this.#isReviewAsked = false;
      const free = this.#record.review(holdersIn([...reports()]));
      this.#reportHeld();
      if (free.length === 0) continue;
      try {
        // A mirror may lag behind an agent that has reported an id a moment ago.
        const ids = new Set(this.#record.review(holdersIn(await readReports(client, this.#signal))));
        const freed = free.filter((id) => ids.has(id));
        this.#record.free(freed);
        if (freed.length > 0) observe({ kind: 'freed', ids: freed });
        this.#options.came();
        this.look();
      } catch (error) {
        if (this.#signal.aborted) return;
        observe({ kind: 'failed', error });
        this.#later('review', RETRY.maxMs, () => this.#review());
      }
    }
  }

  #reportHeld(): void {
    const { clock, onHeld } = this.#options;
    const held = heldByNode(this.#record, timeOf(clock.wall() - LONG_MS));
    onHeld(held);
    if (this.#record.retired.size > 0) this.#later('remind', LONG_MS, () => this.#review());
  }

  #end(): void {
    for (const cancel of this.#timers) cancel();
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

const timeOf = (wall: number): string => new Date(wall).toISOString().replace(/\.[0-9]+Z$/, 'Z');
