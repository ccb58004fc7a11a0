/** What is to be looked at: units that may differ from what is wanted, by owner, first come first served. */
import { MultiMap } from '../../../base/multi-map.ts';
import type { Held } from '../plan/outcome.ts';
import { type Unit, unitId } from '../unit.ts';

export interface Work {
  readonly id: string;
  readonly unit: Unit;
  readonly owners: Set<string>;
  /** When it came, by the clock. */
  readonly since: number;
  /** `flying`: in the transaction that is under way, or not compared since. `held`: waits for one of the tokens. */
  state: 'dirty' | 'flying' | 'held';
  held: Held | undefined;
  /** The problem that was reported last. */
  reported: string | undefined;
  /** The database changed; else the wishes did. */
  isDrift: boolean;
}

export class WorkList {
  readonly #now: () => number;
  readonly #works = new Map<string, Work>();
  readonly #open = new MultiMap<Work>();
  readonly #dirty = new MultiMap<Work>();
  readonly #waiting = new MultiMap<Work>();

  /** @param now milliseconds that never go back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** When that came which is here for longest. */
  get oldest(): number | undefined {
    const { value } = this.#works.values().next();
    return value?.since;
  }

  get size(): number {
    return this.#works.size;
  }

  /** Whether a unit is still to be put right. */
  has(unit: Unit): boolean {
    return this.#works.has(unitId(unit));
  }

  /** Whether a unit is in the transaction that is under way, or was in it and is still to be compared. */
  isFlying(unit: Unit): boolean {
    return this.#works.size > 0 && this.#works.get(unitId(unit))?.state === 'flying';
  }

  get hasDirty(): boolean {
    return this.#dirty.size > 0;
  }

  get hasWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** The owners of whom anything is not put right. */
  openOwners(): Iterable<string> {
    return this.#open.keys();
  }

  /** True when there is something to do for the owner, or under way: more than to wait. */
  isBusy(owner: string): boolean {
    for (const { state } of this.open(owner)) if (state !== 'held') return true;
    return false;
  }

  open(owner: string): Iterable<Work> {
    return this.#open.get(owner);
  }

  /** Has a unit looked at. @param owners at least one */
  mark(unit: Unit, owners: readonly string[], isDrift: boolean): void {
    const id = unitId(unit);
    const known = this.#works.get(id);
    const work = known ?? {
      id,
      unit,
      owners: new Set(),
      since: this.#now(),
      state: 'dirty',
      held: undefined,
      reported: undefined,
      isDrift,
    };
    if (known === undefined) this.#works.set(id, work);
    for (const owner of owners) this.#addOwner(work, owner);
    if (!isDrift) work.isDrift = false;
    // What is under way is looked at again anyway.
    if (work.state !== 'flying') this.#setDirty(work);
  }

  /** Has everything looked at again that waits for a token. */
  wake(token: string): void {
    for (const work of [...this.#waiting.get(token)]) this.#setDirty(work);
  }

  /** The owners with something to do, those first who have waited longest. */
  dirtyOwners(): Iterable<string> {
    return this.#dirty.keys();
  }

  dirtyCount(owner: string): number {
    return this.#dirty.count(owner);
  }

  /** Everything that is to be looked at for these owners, each once. */
  dirtyOf(owners: Iterable<string>): Work[] {
    const works = new Set<Work>();
    for (const owner of owners) for (const work of this.#dirty.get(owner)) works.add(work);
    return [...works];
  }

  fly(work: Work): void {
    this.#leaveDirty(work);
    work.state = 'flying';
    // From here on the database is expected to change.
    work.isDrift = false;
  }

  /** It has to be looked at again. */
  land(work: Work): void {
    this.#setDirty(work);
  }

  hold(work: Work, held: Held): void {
    this.#leaveDirty(work);
    work.state = 'held';
    work.held = held;
    for (const token of held.tokens) this.#waiting.add(token, work);
  }

  /** It is as it is wanted. */
  close(work: Work): void {
    this.#leaveDirty(work);
    this.#leaveTokens(work);
    this.#works.delete(work.id);
    for (const owner of work.owners) this.#open.delete(owner, work);
  }

  #addOwner(work: Work, owner: string): void {
    work.owners.add(owner);
    this.#open.add(owner, work);
  }

  #setDirty(work: Work): void {
    this.#leaveTokens(work);
    work.state = 'dirty';
    work.held = undefined;
    for (const owner of work.owners) this.#dirty.add(owner, work);
  }

  #leaveDirty(work: Work): void {
    for (const owner of work.owners) this.#dirty.delete(owner, work);
  }

  #leaveTokens(work: Work): void {
    for (const token of work.held?.tokens ?? []) this.#waiting.delete(token, work);
  }
}
