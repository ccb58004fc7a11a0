/**
 * Keeps a database as it is wanted.
 *
 * 1. What may differ is a list of units, filled by changes of the wishes and by changes of the database. Nothing is
 *    walked through as a whole but at the start, when pruning is allowed, and when `resync` is called.
 * 2. One transaction is under way at a time. When its reply is here the replica has seen what it did, and everything that
 *    was in it is compared once more: only what is found to be right is done.
 * 3. A transaction that fails is divided until the owner is found who made it fail; that one waits, all others go on.
 */
import { Backoff, type BackoffOptions } from '../../../base/backoff.ts';
import { type Clock, systemClock } from '../../../base/clock.ts';
import {
  type Desired,
  DONE,
  type OwnedDifference,
  type Problem,
  type QueueState,
  type Reconciler,
  type Status,
  worst,
} from '../../../base/reconciler.ts';
import { Listeners } from '../../listeners.ts';
import type { RowChange } from '../../replica/row.ts';
import { FirstLoad } from '../bulk/first-load.ts';
import type { DesiredChange, DesiredRows } from '../desired-rows.ts';
import { rowDifferences } from '../difference.ts';
import { adoptionUnits, driftUnits, strayUnits } from '../drift.ts';
import { type ClaimedRows, garbageUnits } from '../garbage.ts';
import { ActualRows } from '../plan/actual-rows.ts';
import { Lookup } from '../plan/lookup.ts';
import { isProblem } from '../plan/outcome.ts';
import { unsettledUnits } from '../plan/settled.ts';
import { ownerToken, targetToken, tokensOf } from '../plan/tokens.ts';
import { shareAllTexts, shareTexts } from '../shared-texts.ts';
import { type RowUnit, type Unit, unitId } from '../unit.ts';
import { NO_OWNER, openGroup } from './batch.ts';
import type { ReconcilerCounts, ReconcilerEvent } from './events.ts';
import { type Failure, Failures } from './failures.ts';
import { Flusher } from './flusher.ts';
import type { ReconcilerReplica } from './needs.ts';
import type { ReconcilerOptions } from './options.ts';
import { StatusBoard, type StatusEvent } from './status.ts';
import { type Work, WorkList } from './work-list.ts';

const DEFAULT_MAX_OPERATIONS = 1_000;
const DEFAULT_MAX_REPAIRS = 5;
const DEFAULT_BULK_FROM = 500;
const DEFAULT_RETRY: BackoffOptions = { minMs: 1_000, maxMs: 60_000 };

/** Writes what `desired` has and the database has not, until it is stopped. Nothing it meets is thrown: see `status`. */
export class OvsdbReconciler<DB> implements Reconciler {
  readonly counts: ReconcilerCounts = { transactions: 0, operations: 0, failures: 0, driftRepairs: 0, conflicts: 0 };
  readonly #desired: DesiredRows;
  readonly #replica: ReconcilerReplica;
  readonly #actual: ActualRows;
  readonly #claimed: ClaimedRows;
  readonly #ownerKey: string;
  readonly #clock: Clock;
  readonly #works: WorkList;
  readonly #failures: Failures;
  readonly #board: StatusBoard;
  readonly #flusher: Flusher;
  readonly #load: FirstLoad;
  readonly #events = new Listeners<ReconcilerEvent>();
  readonly #stops: (() => void)[] = [];
  /** Whether rows of ours that nobody wants may be removed, and all that were there have been looked for. */
  #pruning: 'forbidden' | 'due' | 'done' = 'forbidden';
  /**
   * Until there is something to compare with, everything is still to be looked at, and not on the list. Before the first
   * comparison what the replica reads is no change of the database. It may be preceded by a bulk load, which comes once.
   */
  #comparison: 'first' | 'loading' | 'loaded' | 'due' | 'done' = 'done';
  #uncomparedSince = 0;
  #support = 0;

  constructor(options: ReconcilerOptions<DB>) {
    const { clock = systemClock, random = Math.random, retry = DEFAULT_RETRY } = options;
    this.#clock = clock;
    this.#works = new WorkList(() => clock.monotonic());
    if (options.onEvent !== undefined) this.#events.add(options.onEvent);
    this.#desired = options.desired as unknown as DesiredRows;
    this.#replica = options.replica;
    this.#claimed = options.claimed ?? {};
    this.#ownerKey = options.ownerKey;
    this.#actual = new ActualRows({ store: options.replica.store, ownerKey: options.ownerKey });
    this.#board = new StatusBoard((owner) => this.status(owner));
    const { groupOf = () => undefined } = options;
    const onRetry = (owner: string): void => {
      for (const one of new Set(openGroup(owner, { works: this.#works, groupOf }))) this.#wake(ownerToken(one));
    };
    this.#failures = new Failures({ clock, random, backoff: retry, groupOf, onRetry });
    this.#load = new FirstLoad({
      desired: this.#desired,
      actual: this.#actual,
      session: options.session,
      counts: this.counts,
      maxOperations: options.maxOperations ?? DEFAULT_MAX_OPERATIONS,
      minRows: options.bulkFrom ?? DEFAULT_BULK_FROM,
      clock,
      onEvent: (event) => this.#events.emit(event),
    });
    this.#flusher = new Flusher({
      desired: this.#desired,
      actual: this.#actual,
      works: this.#works,
      failures: this.#failures,
      board: this.#board,
      session: options.session,
      counts: this.counts,
      maxOperations: options.maxOperations ?? DEFAULT_MAX_OPERATIONS,
      groupOf,
      maxRepairs: options.maxRepairs ?? DEFAULT_MAX_REPAIRS,
      trouble: new Backoff({ ...retry, random }),
      clock,
      schedule: options.schedule ?? setImmediate,
      onEvent: (event) => this.#events.emit(event),
      onAdopted: (table, key) => this.#adopted(table, key),
      isCurrent: () => this.#replica.synced,
      isCompared: () => this.#isCompared,
      nextLoad: () => (this.#comparison === 'loading' ? () => this.#runLoad() : undefined),
    });
  }

  get #isCompared(): boolean {
    return this.#comparison === 'done';
  }

  get #mayPrune(): boolean {
    return this.#pruning !== 'forbidden';
  }

  /** Compares everything that is wanted, and goes on from there. Repeating it does nothing. */
  start(): void {
    if (this.#stops.length > 0) return;
    this.#support = this.#actual.store.supportGeneration;
    this.#comparison = 'first';
    this.#stops.push(
      this.#desired.onChange((change) => this.#desiredChanged(change)),
      this.#desired.onRelease((key) => this.#wake(targetToken(key))),
      this.#desired.onShadow((owner) => this.#shadowed(owner)),
      this.#replica.onUpdate(({ changes }) => this.#replicaChanged(changes)),
      this.#replica.onSynced((synced) => this.#syncedChanged(synced)),
    );
    this.#flusher.setRunning(true);
    this.resync();
  }

  /**
   * Resolves when nothing is under way any more. What is wanted stays as it is in the database; who waits for something to
   * be done waits until `start`.
   */
  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop();
    this.#failures.stop();
    await this.#flusher.stop();
  }

  /** While it is paused nothing is written; what is to be done is collected. */
  setPaused(paused: boolean): void {
    this.#flusher.setRunning(!paused);
  }

  /**
   * From now on rows of ours that nobody wants are removed, those of earlier runs too. To be called when everything that
   * is wanted is known. Until then only what was withdrawn since the start is removed.
   */
  allowPrune(): void {
    if (this.#mayPrune) return;
    this.#pruning = 'due';
    this.#markGarbage();
  }

  /**
   * Compares everything, in case something was overlooked, or as soon as there is something to compare with. Costs a walk
   * through everything that is wanted.
   */
  resync(): void {
    if (this.#isCompared) this.#comparison = 'due';
    this.#uncomparedSince = this.#clock.monotonic();
    if (this.#replica.synced) this.#compareAll();
    this.#flusher.request();
  }

  status(owner: string): Status {
    const failure = this.#failures.get(owner);
    if (failure !== undefined) return statusOfFailure(owner, failure);
    const [shadowed] = this.#desired.shadowedKeys(owner);
    if (shadowed !== undefined) {
      const message = `"${shadowed}" is written as ${this.#desired.rowOwners(shadowed)[0]} wants it`;
      return { kind: 'failed', code: 'ERR_OVSDB_SHADOWED', message };
    }
    const isComparedLater = !this.#isCompared && this.#desired.hasOwner(owner);
    return worst([isComparedLater ? PENDING : DONE, ...Array.from(this.#works.open(owner), statusOfWork)]);
  }

  /** By owners; what nobody desires and could not be removed goes by the name of its unit. */
  problems(): Problem[] {
    for (const owner of this.#works.openOwners()) this.#board.touch(owner);
    if (!this.#isCompared) for (const owner of this.#desired.owners()) this.#board.touch(owner);
    return [...this.#board.unfinished()].map(([owner, status]) => ({
      ...{ owner, status },
      isDesired: this.#desired.hasOwner(owner),
    }));
  }

  /** `stalledMs` counts how long the current step takes, be it to be allowed to write or to get an answer. */
  queue(): QueueState {
    const now = this.#clock.monotonic();
    const age = (since: number | undefined): number => (since === undefined ? 0 : now - since);
    const { size, oldest } = this.#works;
    // What has not been compared counts as one thing.
    const uncompared = this.#isCompared || this.#desired.isEmpty ? 0 : 1;
    const since = uncompared > 0 ? this.#uncomparedSince : oldest;
    return {
      depth: size + uncompared,
      oldestMs: age(since),
      stalledMs: age(this.#flusher.busySince),
      hasCompared: this.#flusher.hasBeenIdle,
    };
  }

  /** Told after each round of planning of all owners whose status has changed. */
  onStatus(listener: (event: StatusEvent) => void): () => void {
    return this.#board.onStatus(listener);
  }

  /**
   * Resolves when everything that the owner wants is in the database, and nothing that it wanted before. An owner that
   * wants nothing is done.
   * @throws ReconcileError as soon as that is not just a matter of time; the signal's reason; both from the result
   */
  whenDone(owner: string, signal?: AbortSignal): Promise<void> {
    return this.#board.whenDone(owner, signal);
  }

  /** Resolves when nothing is to be done: everything is as it is wanted, held or waiting for its next try. */
  whenIdle(signal?: AbortSignal): Promise<void> {
    return this.#flusher.whenIdle(signal);
  }

  *desired(): Generator<Desired> {
    for (const { key } of this.#desired.rows())
      yield { key, owners: this.#desired.rowOwners(key), problem: this.#problemOf(key) };
  }

  /** Compares the replica, which is current while there is a connection. */
  differences(): OwnedDifference[] {
    if (!this.#replica.synced) throw new Error('the database is not connected');
    const input = {
      desired: this.#desired,
      store: this.#replica.store,
      ownerKey: this.#ownerKey,
      claimed: this.#claimed,
    };
    return rowDifferences(input).map((one) => ({ ...one, problem: this.#problemOf(one.key) }));
  }

  #problemOf(key: string): string | undefined {
    return worst(this.#desired.rowOwners(key).map((owner) => this.status(owner))).message;
  }

  #desiredChanged({ unit, owner, isNew }: DesiredChange): void {
    // Other wishes deserve another try, and not to be judged by the old ones.
    this.#failures.forget(owner);
    this.#flusher.forgive(unit);
    const owners = this.#desired.ownersOf(unit);
    // What is withdrawn before that would be overlooked: it is not desired then.
    const isComparedLater = !this.#isCompared && owners.length > 0;
    this.#load.disturb();
    if (!isComparedLater) this.#works.mark(unit, [owner, ...owners], false);
    if (unit.kind === 'row') this.#works.wake(targetToken(unit.key));
    if (unit.kind === 'row' && isNew && !isComparedLater) this.#markStrays(unit);
    this.#board.touch(owner);
    this.#flusher.request();
  }

  /** A row that is there and was not wanted until now: what happened to it meanwhile was nobody's business. */
  #markStrays({ table, key }: RowUnit): void {
    const input = { desired: this.#desired, actual: this.#actual, mayPrune: this.#mayPrune };
    for (const row of this.#actual.owned(table, key)) {
      for (const unit of strayUnits(input, table, key, row)) this.#works.mark(unit, this.#ownersOrUnit(unit), true);
    }
  }

  #adopted(table: string, key: string): void {
    const input = { desired: this.#desired, actual: this.#actual, mayPrune: this.#mayPrune };
    for (const unit of adoptionUnits(input, table, key)) this.#works.mark(unit, this.#ownersOrUnit(unit), true);
  }

  #shadowed(owner: string): void {
    this.#board.touch(owner);
    this.#flusher.request();
  }

  #replicaChanged(changes: readonly RowChange[]): void {
    this.#load.changed(changes);
    if (this.#comparison !== 'due' && this.#comparison !== 'done') return;
    const input = { desired: this.#desired, actual: this.#actual, mayPrune: this.#mayPrune };
    for (const change of changes) {
      for (const unit of driftUnits(input, change)) {
        // Most changes are our own, and what is written is compared anyway.
        if (!this.#works.isFlying(unit)) this.#works.mark(unit, this.#ownersOrUnit(unit), true);
      }
      if (this.#works.hasWaiting) this.#wakeWaiting(change);
      shareTexts(this.#desired, this.#actual, change);
    }
    for (const { table, uuid, after } of changes) {
      if (after === undefined) this.#actual.adoptions.remove(table, uuid);
    }
    this.#flusher.request();
  }

  #wakeWaiting({ table, before, after }: RowChange): void {
    for (const row of [before, after]) {
      for (const token of row === undefined ? [] : tokensOf(this.#actual, table, row)) this.#works.wake(token);
    }
  }

  #wake(token: string): void {
    this.#works.wake(token);
    this.#flusher.request();
  }

  #syncedChanged(synced: boolean): void {
    if (!synced) return;
    const { supportGeneration } = this.#actual.store;
    // Another server has other columns: what was left out before may be possible now.
    const isOther = supportGeneration !== this.#support;
    this.#support = supportGeneration;
    if (isOther) this.#load.disturb();
    if (isOther || !this.#isCompared) this.#compareAll();
    else if (this.#pruning === 'due') this.#markGarbage();
    this.#flusher.request();
  }

  /** After a start nearly everything is as it is wanted, and need not be on the list for that to be found out. */
  #compareAll(): void {
    if (this.#comparison === 'loading') return;
    if (this.#comparison === 'first' && this.#works.size === 0 && this.#load.isPossible()) {
      this.#comparison = 'loading';
      return;
    }
    this.#comparison = 'done';
    const lookup = new Lookup(this.#desired, this.#actual, this.#load.takeSettled());
    // What is on the list is looked at anyway, and knows then who wants it now.
    if (this.#works.size > 0) {
      for (const unit of this.#desired.units()) {
        if (this.#works.has(unit)) this.#works.mark(unit, this.#desired.ownersOf(unit), false);
      }
    }
    for (const unit of unsettledUnits(lookup)) this.#works.mark(unit, this.#desired.ownersOf(unit), false);
    for (const owner of this.#desired.owners()) this.#board.touch(owner);
    this.#flusher.forgetSeen();
    shareAllTexts(this.#desired, this.#actual);
    this.#markGarbage(lookup);
  }

  async #runLoad(): Promise<void> {
    await this.#load.run({
      mayGoOn: () => this.#flusher.isRunning && this.#replica.synced && this.#comparison === 'loading',
      onProgress: () => this.#flusher.progressed(),
      onUnknown: (rows, error) => this.#flusher.addUnknown(rows, error),
    });
    // It may have been started again meanwhile.
    if (this.#comparison !== 'loading') return;
    this.#comparison = 'loaded';
    if (this.#replica.synced) this.#compareAll();
  }

  #markGarbage(lookup?: Lookup): void {
    if (!this.#mayPrune || !this.#replica.synced || this.#comparison === 'loading') return;
    this.#pruning = 'done';
    for (const unit of garbageUnits(this.#desired, this.#actual, this.#claimed, lookup)) {
      this.#works.mark(unit, this.#ownersOrUnit(unit), false);
    }
    this.#flusher.request();
  }

  /** What nobody wants goes by the name of the unit, so that it fails alone. */
  #ownersOrUnit(unit: Unit): readonly string[] {
    const owners = this.#desired.ownersOf(unit);
    return owners.length > 0 ? owners : [`${NO_OWNER}${unitId(unit).replaceAll('\n', ' ')}`];
  }
}

const PENDING: Status = { kind: 'pending' };

const statusOfWork = ({ held }: Work): Status => {
  if (held === undefined) return PENDING;
  const { code, message } = held;
  return isProblem(held) ? { kind: 'failed', code, message } : { kind: 'waiting', message };
};

const statusOfFailure = (owner: string, { error: { code, message }, blamed }: Failure): Status =>
  blamed === owner
    ? { kind: 'failed', code, message }
    : { kind: 'waiting', message: `is written together with ${blamed}, which is refused` };
