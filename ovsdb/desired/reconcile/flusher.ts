/** Turns the list of work into transactions, one at a time. */
import { abortable } from '../../../base/abort.ts';
import { messageOf } from '../../../base/error-message.ts';
import { OvsdbError } from '../../errors.ts';
import { Listeners } from '../../listeners.ts';
import type { OperationResult } from '../../transact/outcome.ts';
import type { LoadedRow } from '../bulk/load-transactions.ts';
import { isMarked } from '../plan/actual-rows.ts';
import { type Held, isProblem } from '../plan/outcome.ts';
import { type FoundRow, type Plan, plan } from '../plan/plan.ts';
import { targetToken } from '../plan/tokens.ts';
import { type Unit, unitId } from '../unit.ts';
import { allSeen } from './all-seen.ts';
import { byGroup, fewerOf, halves, isGroupBusy, isReady, nextOwners, openGroup } from './batch.ts';
import type { FlusherOptions } from './flusher-options.ts';
import { judge, unwritable } from './judge.ts';
import { Repairs } from './repairs.ts';
import { IDLE, type Step } from './step.ts';
import { UnknownInserts } from './unknown-inserts.ts';
import type { Work } from './work-list.ts';

/** Few units that differ among many that do not say little about the next ones. */
const MIN_OPERATIONS_PER_UNIT = 0.5;

export class Flusher {
  readonly #options: FlusherOptions;
  readonly #idle = new Listeners<void>();
  /** Owners among whom the one is who made a transaction fail; each group is tried by itself. */
  #suspects: string[][] = [];
  readonly #unknown: UnknownInserts;
  readonly #repairs: Repairs;
  #isRunning = false;
  #step: Step = IDLE;
  #hasBeenIdle = false;
  /** Of the last plan that had any: what turns out to be too much for one transaction has to be planned again. */
  #operationsPerUnit = 1;

  constructor(options: FlusherOptions) {
    this.#options = options;
    this.#unknown = new UnknownInserts(options.actual);
    const { clock, maxRepairs: max, works } = options;
    const onRested = (id: string): void => {
      works.wake(restToken(id));
      this.request();
    };
    this.#repairs = new Repairs({ clock, max, onRested });
  }

  /** When it has asked to write, or has sent what it waits for an answer to. */
  get busySince(): number | undefined {
    return 'since' in this.#step ? this.#step.since : undefined;
  }

  /** What it waits for is getting on. */
  progressed(): void {
    if (this.#step.kind === 'sending') this.#step = { ...this.#step, since: this.#options.clock.monotonic() };
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Everything has been compared, and nothing was left to be done, at least once. */
  get hasBeenIdle(): boolean {
    return this.#hasBeenIdle;
  }

  /** A unit is wanted otherwise than before: to write it is no repair. */
  forgive(unit: Unit): void {
    this.#repairs.forgive(unitId(unit));
  }

  /** Inserts of a bulk load whose outcome is unknown. */
  addUnknown(rows: readonly LoadedRow[], error: OvsdbError): void {
    this.#unknown.addLoaded(rows);
    // As for any other transaction: only a new connection tells.
    if (this.#options.isCurrent()) this.#options.session.reconnect(error);
  }

  /** Everything has been compared with a replica that is current. */
  forgetSeen(): void {
    this.#unknown.forgetSeen();
  }

  setRunning(running: boolean): void {
    this.#isRunning = running;
    this.request();
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#repairs.stop();
    if (this.#step.kind === 'sending') await this.#step.sent;
    if (this.#step.kind === 'backing off') {
      this.#step.cancel();
      this.#step = IDLE;
    }
  }

  /** Has the list looked at soon. Repeating it does nothing. */
  request(): void {
    if (!this.#isRunning || this.#step.kind !== 'idle') return;
    this.#step = { kind: 'scheduled', since: this.#options.clock.monotonic() };
    this.#options.schedule(() => {
      // An earlier callback was for a request that came while a transaction was being sent.
      if (this.#step.kind !== 'scheduled') return;
      this.#step = IDLE;
      this.#flush();
    });
  }

  whenIdle(signal?: AbortSignal): Promise<void> {
    return abortable(signal, (resolve) => {
      if (this.#isIdle()) resolve();
      return this.#idle.add(() => resolve());
    });
  }

  #isIdle(): boolean {
    const { kind } = this.#step;
    const isBusy = kind === 'scheduled' || kind === 'sending' || !this.#options.isCompared();
    return !isBusy && this.#nextOwners().length === 0;
  }

  #flush(): void {
    if (!this.#isRunning) return;
    if (!this.#options.isCurrent()) {
      this.#options.board.publish();
      return;
    }
    const load = this.#options.nextLoad();
    if (load !== undefined) {
      this.#options.board.publish();
      const sent = load().then(() => {
        this.#step = IDLE;
        this.request();
      });
      this.#step = { kind: 'sending', since: this.#options.clock.monotonic(), sent };
      return;
    }
    const owners = this.#nextOwners();
    if (owners.length === 0) {
      this.#options.board.publish();
      this.#hasBeenIdle = true;
      this.#idle.emit();
      return;
    }
    this.#start(this.#worksOf(owners), owners);
  }

  #nextOwners(): string[] {
    const { works, failures, maxOperations, groupOf } = this.#options;
    const isBlocked = failures.blocking();
    const maxUnits = maxOperations / this.#operationsPerUnit;
    while (this.#suspects.length > 0) {
      const owners = nextOwners(works, isBlocked, maxUnits, new Set(this.#suspects[0]), groupOf);
      if (owners.length > 0) return owners;
      this.#suspects.shift();
    }
    return nextOwners(works, isBlocked, maxUnits, undefined, groupOf);
  }

  #worksOf(owners: readonly string[]): Work[] {
    const { works, failures } = this.#options;
    return works.dirtyOf(owners).filter((work) => isReady(work, failures.isBlocked));
  }

  /** Of what would be written, what somebody else changes again and again. It waits by itself: the rest is written. */
  #rest({ outcomes }: Plan, works: readonly Work[]): ReadonlySet<Work> {
    const isToRest = ({ id }: Work): boolean =>
      this.#repairs.isWorn(id) && outcomes.get(id)?.kind === 'planned' && this.#repairs.isToRest(id);
    const resting = new Set(works.filter(isToRest));
    for (const work of resting) {
      const message = `what is written does not stay: ${work.id.replaceAll('\n', ' ')}`;
      const tokens = [restToken(work.id)];
      this.#options.works.hold(work, { kind: 'held', code: 'ERR_OVSDB_UNSETTLED', message, tokens });
      for (const owner of work.owners) this.#settled(owner);
    }
    return resting;
  }

  /** Plans for these owners, or for fewer when that is too much for one transaction, and sends it. */
  #start(works: readonly Work[], owners: readonly string[]): void {
    const next = this.#tryPlan(works, owners);
    if (next === undefined) return;
    if (this.#blameUnwritable(next, works)) return;
    const resting = this.#rest(next, works);
    if (resting.size > 0) {
      const others = works.filter((work) => !resting.has(work));
      this.#start(others, owners);
      return;
    }
    this.#learn(next.operations.length / works.length);
    const { maxOperations, groupOf } = this.#options;
    const fewer = next.operations.length > maxOperations ? fewerOf(owners, groupOf) : undefined;
    if (fewer !== undefined) {
      this.#start(this.#worksOf(fewer), fewer);
      return;
    }
    const flying = this.#settle(next, works);
    if (next.operations.length === 0) {
      this.request();
      this.#options.board.publish();
      return;
    }
    this.#reportDrift(flying);
    for (const work of flying) this.#options.works.fly(work);
    this.#options.board.publish();
    const sent = this.#send(next, flying).then((backOff) => {
      this.#step = backOff ? this.#backOff() : IDLE;
      this.request();
    });
    this.#step = { kind: 'sending', since: this.#options.clock.monotonic(), sent };
  }

  /** @returns whether the rest has to be planned again */
  #blameUnwritable({ outcomes }: Plan, works: readonly Work[]): boolean {
    const { groupOf, failures, board } = this.#options;
    const found = unwritable(works, outcomes, (one) => groupOf(one) !== undefined && !failures.isBlocked(one));
    if (found === undefined) return false;
    this.#blame(new OvsdbError('ERR_OVSDB_INVALID', found.message), [found.owner]);
    board.publish();
    this.request();
    return true;
  }

  #learn(operationsPerUnit: number): void {
    if (operationsPerUnit > 0) this.#operationsPerUnit = Math.max(MIN_OPERATIONS_PER_UNIT, operationsPerUnit);
  }

  /** Undefined when planning itself fails, which is dealt with as if the server had refused the transaction. */
  #tryPlan(works: readonly Work[], owners: readonly string[]): Plan | undefined {
    try {
      return this.#plan(works);
    } catch (cause) {
      this.#blame(new OvsdbError('ERR_OVSDB_PLAN', `planning failed: ${messageOf(cause)}`, { cause }), owners);
      this.#options.board.publish();
      this.request();
      return undefined;
    }
  }

  #plan(works: readonly Work[]): Plan {
    const { desired, actual, failures } = this.#options;
    // Only asked for what is not as it is wanted, which after a start is nothing.
    let byId: ReadonlyMap<string, Work> | undefined;
    const workOf = (unit: Unit): Work | undefined => {
      byId ??= new Map(works.map((work) => [work.id, work]));
      return byId.get(unitId(unit));
    };
    for (const { unit } of works) {
      const row = this.#unknown.found(unit);
      if (row !== undefined) this.#adopt(row);
    }
    return plan({
      desired,
      actual,
      units: works.map(({ unit }) => unit),
      ownersOf: (unit) => [...(workOf(unit)?.owners ?? [])],
      isBlocked: failures.isBlocked,
      guarded: this.#unknown.keys,
    });
  }

  /** Files everything that needs no operation; the rest is what the transaction is about. */
  #settle({ outcomes, operations, found }: Plan, works: readonly Work[]): Work[] {
    const flying = works.filter((work) => {
      const outcome = outcomes.get(work.id);
      if (outcome?.kind === 'planned' && operations.length > 0) return true;
      if (outcome?.kind === 'held') this.#hold(work, outcome);
      else this.#close(work);
      return false;
    });
    // Not before: what was planned without knowing it has to be looked at again.
    for (const row of found) this.#adopt(row);
    return flying;
  }

  /** A row that carries no mark is known to be ours: what waits for its key could not be told when the row came. */
  #adopt({ table, key, uuid }: FoundRow): void {
    const { actual, works, onAdopted } = this.#options;
    if (actual.adoptions.uuidOf(table, key) === uuid) return;
    actual.adoptions.add(table, key, uuid);
    works.wake(targetToken(key));
    onAdopted(table, key);
  }

  #hold(work: Work, held: Held): void {
    const { works, counts, onEvent } = this.#options;
    works.hold(work, held);
    for (const owner of work.owners) this.#settled(owner);
    if (!isProblem(held) || work.reported === held.message) return;
    work.reported = held.message;
    counts.conflicts++;
    onEvent({ kind: 'conflict', unit: work.unit, owners: [...work.owners], message: held.message });
  }

  #close(work: Work): void {
    this.#options.works.close(work);
    if (work.unit.kind === 'row') this.#unknown.forget(work.unit.key);
    for (const owner of work.owners) this.#settled(owner);
  }

  /** What an owner failed with is over when all that can be done for it is done, even if the rest has to wait. */
  #settled(owner: string): void {
    const { failures, board } = this.#options;
    if (failures.get(owner) !== undefined && !isGroupBusy(owner, this.#options)) failures.forget(owner);
    board.touch(owner);
  }

  /** @returns whether the same has to be tried again after a while */
  async #send(next: Plan, flying: readonly Work[]): Promise<boolean> {
    const { session, counts, clock, trouble, onEvent, works } = this.#options;
    const startedAt = clock.monotonic();
    let backOff = false;
    try {
      const results = await session.transact(next.operations);
      counts.transactions++;
      counts.operations += next.operations.length;
      const owners = new Set(next.owners.flat()).size;
      onEvent({
        kind: 'committed',
        operations: next.operations.length,
        owners,
        durationMs: clock.monotonic() - startedAt,
      });
      trouble.reset();
      for (const work of flying) this.#repairs.add(work.id);
      await this.#committed(next, results);
    } catch (error) {
      backOff = this.#failed(next, error);
    }
    for (const work of flying) works.land(work);
    return backOff;
  }

  #reportDrift(flying: readonly Work[]): void {
    const { counts, onEvent } = this.#options;
    for (const { unit, owners, isDrift } of flying) {
      if (!isDrift) continue;
      counts.driftRepairs++;
      onEvent({ kind: 'drift', unit, owners: [...owners] });
    }
  }

  async #committed({ inserts }: Plan, results: readonly OperationResult[]): Promise<void> {
    const { actual, clock } = this.#options;
    const rows = inserts.flatMap(({ index, table, key }) => {
      const uuid = results[index]?.uuid;
      this.#unknown.forget(key);
      return uuid === undefined ? [] : [{ table, key, uuid }];
    });
    for (const row of rows) if (!isMarked(actual.model, row.table)) this.#adopt(row);
    await allSeen(actual.store, rows, clock);
  }

  /** @returns as `#send` */
  #failed(next: Plan, cause: unknown): boolean {
    const { session, isCurrent } = this.#options;
    const error = cause instanceof OvsdbError ? cause : new OvsdbError('ERR_OVSDB', String(cause), { cause });
    const verdict = judge(error, next.owners, this.#suspects[0]);
    this.#blame(error, verdict.kind === 'blame' ? verdict.owners : []);
    if (verdict.kind === 'unknown') {
      this.#unknown.add(next);
      // The connection may be there still, and the reply may never come: only a new one tells what became of it.
      if (isCurrent()) session.reconnect(error);
    }
    // Without a connection there is nothing to wait for but the next one.
    return verdict.kind === 'trouble' && isCurrent();
  }

  /** @param owners one of whom is to blame */
  #blame(error: OvsdbError, owners: readonly string[]): void {
    const { counts, failures, board, onEvent } = this.#options;
    counts.failures++;
    onEvent({ kind: 'failed', error, blamed: owners });
    const [unit, another] = byGroup(owners, this.#options.groupOf);
    const [owner] = unit ?? [];
    if (another !== undefined) {
      const parts = halves(byGroup(owners, this.#options.groupOf));
      this.#suspects = [...parts.map((part) => part.flat()), ...this.#suspects.slice(1)];
    } else if (owner !== undefined) {
      failures.add(owner, error);
      for (const one of new Set(openGroup(owner, this.#options))) board.touch(one);
    }
  }

  #backOff(): Step {
    const { clock, trouble } = this.#options;
    const cancel = clock.schedule(trouble.nextMs(), () => {
      this.#step = IDLE;
      this.request();
    });
    return { kind: 'backing off', cancel };
  }
}

const restToken = (id: string): string => `rest ${id}`;
