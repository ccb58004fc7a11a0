/**
 * Keeps what domain names stand for: each is asked again when its answer has lived its time, by one timer for all. What it costs is bounded
 * whatever servers answer: names, addresses of each, questions at a time, and questions per second.
 */
import { backoffMs } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { DomainName } from '../../net/domain-name.ts';
import { FAMILIES, type Family, type Ip } from '../../net/ip.ts';
import type { DnsClient, DnsResult } from './client.ts';
import { DueQueue } from './due-queue.ts';
import { type NameOwner, NameRoom } from './name-room.ts';
import { addressesOf, type DnsRecord, newRecord, nextEnd, withoutEnded, withResult } from './record.ts';
import { stateOf } from './state.ts';
import type { DnsNames, DomainState } from './types.ts';

export interface DnsResolverOptions {
  readonly client: Pick<DnsClient, 'resolve'>;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Why no pod's rule may be about an address; undefined: one may. */
  readonly refusalOf: (ip: Ip) => string | undefined;
  /** What an agent before this one had of a name. Called once each time that a name is wanted anew. */
  readonly kept: (name: DomainName) => readonly Ip[];
  readonly observe?: ((observation: DnsObservation) => void) | undefined;
}

/** A question has been answered or not. */
export interface DnsObservation {
  readonly name: DomainName;
  readonly result: DnsResult['kind'];
  /** Of a failure. */
  readonly why?: string | undefined;
}

interface Half {
  readonly name: DomainName;
  readonly family: Family;
  record: DnsRecord;
  /** When it is asked next; undefined: it is being asked. */
  ask: number | undefined;
  /** Where it is due. */
  lane: Lane;
}

/** Questions about names of one room. Names of tenants that never answer hold up no question of administrators. */
interface Lane {
  readonly due: DueQueue<Half>;
  asking: number;
  /** Of these: about names whose last question has failed. */
  retrying: number;
}

const newLane = (): Lane => ({ due: new DueQueue(), asking: 0, retrying: 0 });

interface Wanted {
  readonly halves: readonly Half[];
  /** As listeners have them. */
  addresses: readonly Ip[];
  /** Milliseconds since the epoch. */
  failedSince: number | undefined;
  /** Ends its questions. */
  readonly end: AbortController;
}

export class DnsResolver implements DnsNames {
  readonly #options: DnsResolverOptions;
  readonly #names = new Map<DomainName, Wanted>();
  readonly #room = new NameRoom(MAX_NAMES);
  readonly #lanes: Readonly<Record<NameOwner, Lane>> = { administrator: newLane(), firewall: newLane() };
  readonly #listeners = new Set<(name: DomainName, addresses: readonly Ip[]) => void>();
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  #isClosed = false;

  constructor(options: DnsResolverOptions) {
    this.#options = options;
  }

  want(name: DomainName, owner: NameOwner): () => void {
    for (const one of this.#room.want(name, owner)) this.#add(one);
    this.#move(name);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#release(name, owner);
    };
  }

  state(name: DomainName): DomainState | undefined {
    const wanted = this.#names.get(name);
    const now = this.#options.clock.monotonic();
    if (wanted !== undefined) {
      const { halves, addresses, failedSince } = wanted;
      const refusals = halves.flatMap(({ record }) => this.#refusalsOf(record));
      return stateOf({ halves, addresses, failedSince, refusals, age: (record) => now - record.answered });
    }
    if (!this.#room.isWaiting(name)) return undefined;
    const problem = `this node resolves ${MAX_NAMES} names of such rules already, and not this one`;
    return { kind: 'unresolved', addresses: [], problem };
  }

  /** Those that are wanted. */
  *names(): Generator<DomainName> {
    yield* this.#names.keys();
    yield* this.#room.waiting();
  }

  onChange(listener: (name: DomainName, addresses: readonly Ip[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** There are other servers: what has failed is asked at once. */
  retry(): void {
    const now = this.#options.clock.monotonic();
    for (const { halves } of this.#names.values())
      for (const half of halves) if (half.record.failures > 0 && half.ask !== undefined) this.#schedule(half, now);
    this.#pump();
  }

  /** No question is asked any more, and nobody is told anything. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#listeners.clear();
    for (const { end } of this.#names.values()) end.abort();
  }

  #add(name: DomainName): void {
    const now = this.#options.clock.monotonic();
    const kept = this.#options.kept(name);
    const halves = FAMILIES.map((family): Half => {
      const own = kept.filter((ip) => ip.includes(':') === (family === 6));
      return { name, family, record: newRecord(own, now), ask: now, lane: this.#laneOf(name) };
    });
    const wanted: Wanted = { halves, addresses: [], failedSince: undefined, end: new AbortController() };
    this.#names.set(name, wanted);
    this.#publish(name, wanted);
    for (const half of halves) this.#schedule(half, now);
    this.#pump();
  }

  #release(name: DomainName, owner: NameOwner): void {
    const others = this.#room.release(name, owner);
    const wanted = this.#names.get(name);
    if (wanted !== undefined && !this.#room.has(name)) {
      this.#names.delete(name);
      for (const half of wanted.halves) half.lane.due.delete(half);
      wanted.end.abort();
    }
    for (const one of others) this.#add(one);
    this.#move(name);
  }

  #laneOf(name: DomainName): Lane {
    return this.#lanes[this.#room.roomOf(name) ?? 'firewall'];
  }

  /** It may be in the other room by now. */
  #move(name: DomainName): void {
    const halves = this.#names.get(name)?.halves ?? [];
    if (halves.every(({ lane }) => lane === this.#laneOf(name))) return;
    for (const half of halves) this.#schedule(half, half.ask);
    this.#pump();
  }

  /** @param ask when it is asked next; undefined: it is being asked */
  #schedule(half: Half, ask: number | undefined): void {
    half.ask = ask;
    const due = Math.min(ask ?? Number.POSITIVE_INFINITY, nextEnd(half.record));
    const lane = this.#laneOf(half.name);
    if (half.lane !== lane || due === Number.POSITIVE_INFINITY) half.lane.due.delete(half);
    half.lane = lane;
    if (due !== Number.POSITIVE_INFINITY) lane.due.set(half, due);
  }

  /** Does what is due, and waits for what is next. */
  #pump(): void {
    if (this.#isClosed) return;
    const now = this.#options.clock.monotonic();
    for (const lane of Object.values(this.#lanes)) this.#pumpLane(lane, now);
    this.#wait(now);
  }

  #pumpLane(lane: Lane, now: number): void {
    while (lane.asking < MAX_ASKING) {
      const half = lane.due.take(now);
      if (half === undefined) return;
      this.#update(half, withoutEnded(half.record, now));
      const isDue = half.ask !== undefined && half.ask <= now;
      // Who owns a name that never answers must not keep others from being asked.
      const isLate = isDue && half.record.failures > 0 && lane.retrying >= MAX_RETRYING;
      if (isLate) this.#schedule(half, now + RETRY_LATER_MS);
      else if (isDue) void this.#ask(half);
      else this.#schedule(half, half.ask);
    }
  }

  /** While as many are asked as may be, the next that ends goes on. */
  #wait(now: number): void {
    const free = Object.values(this.#lanes).filter(({ asking }) => asking < MAX_ASKING);
    const first = Math.min(...free.map(({ due }) => due.peek() ?? Number.POSITIVE_INFINITY));
    const at = first === Number.POSITIVE_INFINITY ? undefined : first;
    if (at === this.#timer?.at) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (at === undefined) return;
    const cancel = this.#options.clock.schedule(Math.max(0, at - now), () => {
      this.#timer = undefined;
      this.#pump();
    });
    this.#timer = { at, cancel };
  }

  async #ask(half: Half): Promise<void> {
    const { client, clock, observe } = this.#options;
    const { name, family, lane } = half;
    const wanted = this.#names.get(name);
    if (wanted === undefined) return;
    const isRetry = half.record.failures > 0;
    lane.asking += 1;
    if (isRetry) lane.retrying += 1;
    this.#schedule(half, undefined);
    const result = await client.resolve(name, family, wanted.end.signal);
    lane.asking -= 1;
    if (isRetry) lane.retrying -= 1;
    if (this.#isClosed) return;
    if (this.#names.get(name) === wanted) {
      observe?.({ name, result: result.kind, ...('why' in result && { why: result.why }) });
      const now = clock.monotonic();
      this.#update(half, withResult(half.record, result, now));
      this.#schedule(half, now + this.#pauseAfter(half));
    }
    this.#pump();
  }

  /**
   * A name whose owner says that it lives no time at all is asked every few seconds, and less often the more names there are and the more
   * addresses its answers add: each is an element of a set in OVN, and one that ends later.
   */
  #pauseAfter({ name, record: { failures, ttlMs, current, added } }: Half): number {
    const { random } = this.#options;
    if (failures > 0) return backoffMs({ minMs: MIN_PAUSE_MS, maxMs: MAX_FAILED_MS, random }, failures);
    // Those of tenants' names are no reason to ask late about one of administrators.
    const perAdded = this.#room.count(this.#room.roomOf(name) ?? 'firewall') * PAUSE_PER_ADDED_MS;
    const least = Math.max(MIN_PAUSE_MS, this.#names.size * PAUSE_PER_NAME_MS, added * perAdded);
    const most = current.length === 0 ? MAX_NEGATIVE_MS : MAX_PAUSE_MS;
    // Later than its end and not before: a cache in between would give the rest of the same answer.
    return Math.min(most, Math.max(least, ttlMs)) * (1 + JITTER * random());
  }

  #update(half: Half, record: DnsRecord): void {
    half.record = record;
    const wanted = this.#names.get(half.name);
    if (wanted === undefined) return;
    const isFailing = wanted.halves.some(({ record: one }) => one.failures > 0);
    wanted.failedSince = isFailing ? (wanted.failedSince ?? this.#options.clock.wall()) : undefined;
    this.#publish(half.name, wanted);
  }

  #publish(name: DomainName, wanted: Wanted): void {
    const all = wanted.halves.flatMap(({ record }) => addressesOf(record));
    const addresses = all.filter((ip) => this.#options.refusalOf(ip) === undefined).sort();
    if (addresses.join() === wanted.addresses.join()) return;
    wanted.addresses = addresses;
    for (const listener of [...this.#listeners]) listener(name, addresses);
  }

  #refusalsOf(record: DnsRecord): string[] {
    return addressesOf(record).flatMap((ip) => {
      const refusal = this.#options.refusalOf(ip);
      return refusal === undefined ? [] : `${ip} ${refusal}`;
    });
  }
}

/** On one node, of administrators' rules, and as many of all firewalls. */
export const MAX_NAMES = 2_000;
/** The same for questions. */
export const MAX_ASKING = 32;
const MAX_RETRYING = MAX_ASKING / 2;
const RETRY_LATER_MS = 1_000;
const MIN_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 30 * 60_000;
/** A name that comes to be is found soon. */
const MAX_NEGATIVE_MS = 60_000;
const MAX_FAILED_MS = 60_000;
/** Two questions each: no more than a hundred per second. */
const PAUSE_PER_NAME_MS = 20;
/** And of each: of one room, no more than two hundred addresses per second that were not known. */
const PAUSE_PER_ADDED_MS = 10;
const JITTER = 0.1;
