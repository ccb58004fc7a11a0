/**
 * What is written down of the ids that are given out, see `NetworkIds`: an id that is in the record may be in use somewhere,
 * one that is not is in use nowhere. No I/O and no clock.
 */
import { MAX_NAMED_RETIRED, MAX_RETIREMENT, type NetworkIdPool, type PoolStatus } from '../../api/network-id-pool.ts';
import { formatRanges, idsIn, rangesOf } from '../../net/id-ranges.ts';

/** An id whose network is deleted. */
export interface RetiredId {
  readonly network: string | undefined;
  /** Of its transit router; undefined: it had none, or nobody knows it. */
  readonly routerKey: number | undefined;
  /** Undefined: it is not written down yet. */
  readonly retirement: number | undefined;
  readonly since: string;
}

/** What there is to be written, and what is so once it is. */
export interface RecordPlan {
  readonly status: PoolStatus;
  readonly granted: readonly number[];
  /** What is retired with it: as it is known now, and as it is once it is written. */
  readonly retiring: readonly { readonly id: number; readonly before: RetiredId; readonly after: RetiredId }[];
  /** How many of those who wait are counted in. */
  readonly desired: number;
}

/** Which nodes may still have what was retired; empty: none. */
export type HoldersOf = (id: number, retirement: number) => readonly string[];

export class IdRecord {
  readonly #max: number;
  readonly #preferred: number;
  /** False: nothing is written down, and every free id can be had at once. */
  #isKept = false;
  /** Ids that somebody has. */
  readonly #taken = new Set<number>();
  /** Written down, and nobody's yet. */
  readonly #granted = new Set<number>();
  readonly #retired = new Map<number, RetiredId>();
  /** All below are used, or have been. */
  #fresh = 1;
  /** What was used and is free, the longest first. */
  readonly #freed = new Set<number>();
  #retirement = 0;
  #holders: ReadonlyMap<number, readonly string[]> = new Map();
  /** How often somebody found no id that can be assigned now. */
  #desired = 0;
  #failure: string | undefined;
  /** Something is to be written, though nobody waits for it. */
  #isChanged = false;

  /** @param preferred up to this an id has all that derives from it; those above are for when nothing else is free */
  constructor(max: number, preferred = max) {
    this.#max = max;
    this.#preferred = Math.min(preferred, max);
  }

  get isKept(): boolean {
    return this.#isKept;
  }

  get isChanged(): boolean {
    return this.#isChanged;
  }

  get retired(): ReadonlyMap<number, RetiredId> {
    return this.#retired;
  }

  /** Some id can be assigned now. */
  get hasNext(): boolean {
    return this.#isKept ? this.#granted.size > 0 : this.#pick() !== undefined;
  }

  /** There is an id that can be assigned as soon as it is written down. */
  get hasMore(): boolean {
    return this.#isKept && this.#pick() !== undefined;
  }

  /** Why what was to be written last is not, as far as it is known. */
  get failure(): string | undefined {
    return this.#failure;
  }

  get desired(): number {
    return this.#desired;
  }

  /** Somebody waits for an id. */
  want(): void {
    this.#desired += 1;
  }

  /** How many can be assigned before more has to be written down. */
  get ahead(): number {
    return this.#granted.size;
  }

  /** Who still has an id of a deleted network, as far as it is known. */
  holdersOf(id: number): readonly string[] {
    return this.#holders.get(id) ?? [];
  }

  /**
   * From now on nothing is assigned that is not written down. To be called before anything is recovered, and when there is a
   * place for it again.
   * @param pool what was written down last; undefined: nothing
   */
  follow(pool: NetworkIdPool['status'] | undefined): void {
    this.#isKept = true;
    this.#isChanged = pool === undefined || this.#taken.size > 0;
    this.adopt(pool);
  }

  /** Also what another program has written down: it was one that led before. */
  adopt(pool: NetworkIdPool['status'] | undefined): void {
    this.#retirement = Math.max(this.#retirement, pool?.retirement ?? 0);
    for (const id of idsIn(pool?.given ?? [])) this.#hold(id, undefined);
    for (const { id, network, routerKey, retirement, since } of pool?.retired ?? []) {
      if (this.#retired.has(id)) this.#retired.set(id, { network, routerKey, retirement, since });
    }
  }

  /** There is no place to write it to. */
  drop(): void {
    this.#failure = undefined;
    this.#isKept = false;
    for (const id of [...this.#granted, ...this.#retired.keys()]) this.#freed.add(id);
    this.#granted.clear();
    this.#retired.clear();
  }

  /** The record was lost, or cannot be read: all that is nobody's may be somewhere. @param retirement not below what nodes say */
  suspectAll(retirement: number): void {
    this.#retirement = Math.min(Math.max(this.#retirement, retirement), MAX_RETIREMENT - 1);
    for (let id = 1; id <= this.#max; id += 1) this.#hold(id, undefined);
  }

  /** Nodes say that they have them. */
  suspect(ids: Iterable<number>): void {
    for (const id of ids) if (id > 0) this.#hold(id, undefined);
  }

  /** Somebody has it. */
  take(id: number): void {
    this.#granted.delete(id);
    this.#retired.delete(id);
    this.#freed.delete(id);
    this.#taken.add(id);
    this.#isChanged = this.#isKept;
  }

  next(): number | undefined {
    const id = this.#isKept ? lowest(this.#granted) : this.#pick();
    if (id === undefined) return undefined;
    this.#granted.delete(id);
    this.#freed.delete(id);
    this.#taken.add(id);
    return id;
  }

  /** @param isKnown false: nobody has seen it */
  giveBack(
    id: number,
    network: string,
    { routerKey, isKnown }: { routerKey: number | undefined; isKnown: boolean },
  ): void {
    this.#taken.delete(id);
    if (!this.#isKept || !isKnown) {
      (this.#isKept ? this.#granted : this.#freed).add(id);
      return;
    }
    this.#retired.set(id, { network, routerKey, retirement: undefined, since: '' });
    this.#isChanged = true;
  }

  /** What is to be written now. @param more how many ids are to be assignable when it is written @param now as the API writes times */
  plan(more: number, now: string): RecordPlan {
    const retiring = this.#retiring(now);
    const retirement = this.#retirement + (retiring.length > 0 ? 1 : 0);
    const granted: number[] = [];
    for (const id of this.#free()) {
      if (granted.length + this.#granted.size >= more) break;
      granted.push(id);
    }
    const desired = this.#desired;
    this.#isChanged = false;
    this.#desired = 0;
    const given = rangesOf([...this.#taken, ...this.#granted, ...this.#retired.keys(), ...granted]);
    const all = new Map([...this.#retired, ...retiring.map(({ id, after }) => [id, after] as const)]);
    const retired = [...all].map(([id, { network, routerKey, retirement: number = 0, since }], index) => ({
      id,
      ...(network !== undefined && index < MAX_NAMED_RETIRED && { network }),
      ...(routerKey !== undefined && { routerKey }),
      ...{ retirement: number, since },
    }));
    const list = retired.length === 0 ? {} : { retired };
    return { status: { given: formatRanges(given), retirement, ...list }, granted, retiring, desired };
  }

  /** It is written. */
  commit({ status, granted, retiring }: RecordPlan): void {
    this.#failure = undefined;
    this.#retirement = Math.max(this.#retirement, status.retirement);
    // What has come back and gone again meanwhile is retired again.
    for (const { id, before, after } of retiring) if (this.#retired.get(id) === before) this.#retired.set(id, after);
    for (const id of granted) {
      if (this.#taken.has(id) || this.#retired.has(id)) continue;
      this.#freed.delete(id);
      this.#granted.add(id);
    }
  }

  /**
   * It is not known whether it is written: no answer of a node counts for what it retires, since another one may have written
   * the same number for something else. @param why it may not be
   */
  undo({ desired }: RecordPlan, why: string): void {
    this.#failure = why;
    this.#isChanged = true;
    this.#desired += desired;
  }

  /** Notes who still has what. @returns the ids that nobody has */
  review(holdersOf: HoldersOf): readonly number[] {
    const holders = new Map<number, readonly string[]>();
    const free: number[] = [];
    for (const [id, { retirement }] of this.#retired) {
      if (retirement === undefined) continue;
      const nodes = holdersOf(id, retirement);
      if (nodes.length === 0) free.push(id);
      else holders.set(id, nodes);
    }
    this.#holders = holders;
    return free;
  }

  /** Every node has said that it has none of them. */
  free(ids: readonly number[]): void {
    for (const id of ids) {
      const retired = this.#retired.get(id);
      if (!this.#retired.delete(id)) continue;
      // What no network is known to have had is as good as never used.
      if (retired?.network === undefined) this.#fresh = Math.min(this.#fresh, id);
      else this.#freed.add(id);
      this.#isChanged = true;
    }
  }

  #hold(id: number, network: string | undefined): void {
    if (this.#taken.has(id) || this.#granted.has(id) || this.#retired.has(id)) return;
    this.#freed.delete(id);
    this.#retired.set(id, { network, routerKey: undefined, retirement: undefined, since: '' });
    this.#isChanged = true;
  }

  #retiring(since: string): RecordPlan['retiring'] {
    return [...this.#retired].flatMap(([id, before]) =>
      before.retirement === undefined
        ? [{ id, before, after: { ...before, retirement: this.#retirement + 1, since } }]
        : [],
    );
  }

  #pick(): number | undefined {
    for (const id of this.#free()) return id;
    return undefined;
  }

  /** Those that were never used, then the others. What was granted once is used, or will be. */
  *#free(): Generator<number> {
    while (this.#fresh <= this.#max && this.#isKnown(this.#fresh)) this.#fresh += 1;
    yield* this.#unused(this.#fresh, this.#preferred);
    for (const id of this.#freed) if (id <= this.#preferred) yield id;
    yield* this.#unused(this.#preferred + 1, this.#max);
    for (const id of this.#freed) if (id > this.#preferred) yield id;
  }

  *#unused(first: number, last: number): Generator<number> {
    for (let id = Math.max(first, this.#fresh); id <= last; id += 1) if (!this.#isKnown(id)) yield id;
  }

  #isKnown(id: number): boolean {
    return this.#taken.has(id) || this.#granted.has(id) || this.#retired.has(id) || this.#freed.has(id);
  }
}

const lowest = (ids: ReadonlySet<number>): number | undefined => (ids.size === 0 ? undefined : Math.min(...ids));
