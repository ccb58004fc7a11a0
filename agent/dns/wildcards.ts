/**
 * What wildcards of domain names stand for: the addresses that DNSNameResolvers have, which a plugin of the cluster's DNS server writes before
 * it answers a pod. Nobody is asked here. Bounded like names that are resolved, whatever pods ask for: names, addresses of each, and how often
 * what counts of a name is another.
 */

import { dnsNameResolverName } from '../../api/dns-name-resolver.ts';
import type { Clock } from '../../base/clock.ts';
import type { ObjectCache } from '../../kube/reflector/types.ts';
import type { DomainName } from '../../net/domain-name.ts';
import type { Ip } from '../../net/ip.ts';
import { DueQueue } from './due-queue.ts';
import { type NameOwner, NameRoom } from './name-room.ts';
import { STALE_MS } from './record.ts';
import { MAX_NAMES } from './resolver.ts';
import { listText } from './state.ts';
import type { DnsNames, DomainState } from './types.ts';
import { MAX_LIFE_MS, type WildcardRecord } from './wildcard-record.ts';

/** The DNSNameResolvers of one namespace. */
export interface WildcardSource {
  readonly namespace: string;
  /** By `namespace/name`. */
  readonly records: Pick<ObjectCache<WildcardRecord>, 'get' | 'subscribe'>;
  /** False: the API server does not know the kind. */
  isServed(): boolean;
  /** Why one cannot be read. */
  unreadable(key: string): string | undefined;
  /** Milliseconds since the API server was last heard of. */
  silenceMs(): number;
}

interface WildcardOptions {
  readonly source: WildcardSource;
  readonly clock: Clock;
  /** Why no pod's rule may be about an address; undefined: one may. */
  readonly refusalOf: (ip: Ip) => string | undefined;
}

interface Wanted {
  readonly name: DomainName;
  record: WildcardRecord | undefined;
  /** Of the record: those that no rule may be about, and why. */
  refusals: ReadonlyMap<Ip, string>;
  /** When the record was read, in milliseconds since the epoch. */
  read: number;
  /** As listeners have them. */
  addresses: readonly Ip[];
  /** Until then, by the clock that never goes back, listeners hear nothing new. */
  quietUntil: number;
}

export class WildcardNames implements DnsNames {
  readonly #options: WildcardOptions;
  readonly #room = new NameRoom(MAX_NAMES);
  readonly #wanted = new Map<DomainName, Wanted>();
  /** By key of the DNSNameResolver. */
  readonly #byKey = new Map<string, Wanted>();
  readonly #due = new DueQueue<Wanted>();
  readonly #listeners = new Set<(name: DomainName, addresses: readonly Ip[]) => void>();
  readonly #unsubscribe: () => void;
  #cancel: (() => void) | undefined;

  constructor(options: WildcardOptions) {
    this.#options = options;
    this.#unsubscribe = options.source.records.subscribe(({ key }) => {
      const wanted = this.#byKey.get(key);
      if (wanted !== undefined) this.#read(wanted);
    });
  }

  want(name: DomainName, owner: NameOwner): () => void {
    for (const one of this.#room.want(name, owner)) this.#add(one);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const others = this.#room.release(name, owner);
      if (!this.#room.has(name)) this.#drop(name);
      for (const one of others) this.#add(one);
    };
  }

  state(name: DomainName): DomainState | undefined {
    const wanted = this.#wanted.get(name);
    if (wanted !== undefined) return this.#stateOf(wanted);
    if (!this.#room.isWaiting(name)) return undefined;
    return unresolved(`this node follows ${MAX_NAMES} wildcards of such rules already, and not this one`);
  }

  *names(): Generator<DomainName> {
    yield* this.#wanted.keys();
    yield* this.#room.waiting();
  }

  onChange(listener: (name: DomainName, addresses: readonly Ip[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#unsubscribe();
    this.#cancel?.();
    this.#listeners.clear();
    this.#wanted.clear();
    this.#byKey.clear();
  }

  #add(name: DomainName): void {
    const wanted: Wanted = { name, record: undefined, refusals: new Map(), read: 0, addresses: [], quietUntil: 0 };
    this.#wanted.set(name, wanted);
    this.#byKey.set(this.#keyOf(name), wanted);
    this.#read(wanted);
  }

  #drop(name: DomainName): void {
    const wanted = this.#wanted.get(name);
    if (wanted === undefined) return;
    this.#wanted.delete(name);
    this.#byKey.delete(this.#keyOf(name));
    this.#due.delete(wanted);
  }

  #keyOf(name: DomainName): string {
    return `${this.#options.source.namespace}/${dnsNameResolverName(name)}`;
  }

  /** What the mirror has of it. One of another wildcard than was asked for has nothing to say. */
  #read(wanted: Wanted): void {
    const record = this.#options.source.records.get(this.#keyOf(wanted.name));
    wanted.record = record?.wildcard === wanted.name ? record : undefined;
    wanted.refusals = new Map(
      (wanted.record?.addresses ?? []).flatMap(({ ip }) => {
        const refusal = this.#options.refusalOf(ip);
        return refusal === undefined ? [] : [[ip, refusal] as const];
      }),
    );
    wanted.read = this.#options.clock.wall();
    this.#look(wanted);
    this.#wait();
  }

  #look(wanted: Wanted): void {
    const { clock } = this.#options;
    const now = clock.monotonic();
    if (now < wanted.quietUntil) {
      this.#due.set(wanted, wanted.quietUntil);
      return;
    }
    const { counted, nextMs } = this.#counted(wanted);
    this.#publish(wanted, counted);
    if (nextMs === undefined) this.#due.delete(wanted);
    else this.#due.set(wanted, now + Math.max(MIN_LOOK_MS, nextMs));
  }

  /** Those that have not ended; `nextMs`: when it has to be looked at again. While the API server is silent nobody can renew any. */
  #counted({ record, read }: Wanted): { readonly counted: readonly Ip[]; readonly nextMs: number | undefined } {
    const { clock, source } = this.#options;
    const now = clock.wall();
    const isSilent = source.silenceMs() > SILENT_MS;
    const counted: Ip[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const { ip, ends } of record?.addresses ?? []) {
      const until = Math.min(ends, read + MAX_LIFE_MS);
      const isHeld = until <= now && isSilent && now < until + STALE_MS;
      if (until > now || isHeld) counted.push(ip);
      if (until > now) next = Math.min(next, until - now);
      else if (isHeld) next = Math.min(next, HOLD_LOOK_MS);
    }
    return { counted, nextMs: next === Number.POSITIVE_INFINITY ? undefined : next };
  }

  #publish(wanted: Wanted, counted: readonly Ip[]): void {
    const { clock } = this.#options;
    const addresses = counted.filter((ip) => !wanted.refusals.has(ip)).sort();
    if (addresses.join() === wanted.addresses.join()) return;
    const before = new Set(wanted.addresses);
    const added = addresses.filter((ip) => !before.has(ip)).length;
    wanted.addresses = addresses;
    // Whoever owns names of a wildcard has pods ask for one after the other: each address is an element of a set in OVN.
    const room = this.#room.roomOf(wanted.name) ?? 'firewall';
    wanted.quietUntil = clock.monotonic() + Math.min(MAX_QUIET_MS, added * this.#room.count(room) * QUIET_PER_ADDED_MS);
    for (const listener of [...this.#listeners]) listener(wanted.name, addresses);
  }

  #wait(): void {
    const { clock } = this.#options;
    this.#cancel?.();
    const due = this.#due.peek();
    if (due === undefined) {
      this.#cancel = undefined;
      return;
    }
    this.#cancel = clock.schedule(Math.max(0, due - clock.monotonic()), () => {
      const now = clock.monotonic();
      for (let one = this.#due.take(now); one !== undefined; one = this.#due.take(now)) this.#look(one);
      this.#wait();
    });
  }

  #stateOf({ name, record, refusals, addresses }: Wanted): DomainState {
    const { source, clock } = this.#options;
    const key = this.#keyOf(name);
    if (!source.isServed()) return unresolved(NOT_SERVED);
    const unreadable = source.unreadable(key);
    if (unreadable !== undefined) return unresolved(`DNSNameResolver ${key} cannot be read: ${unreadable}`);
    const found = source.records.get(key);
    if (found === undefined) return unresolved(`there is no DNSNameResolver ${key} yet: ${WHO_CREATES}`);
    if (record === undefined) return unresolved(`DNSNameResolver ${key} is of another name, ${found.wildcard}`);
    const { answered, notes } = record;
    if (answered === undefined) return { ...unresolved(UNANSWERED), notes };
    const left = [...refusals].map(([ip, why]) => `${ip} ${why}`);
    return {
      ...{ kind: 'resolved', addresses, answeredAgo: Math.max(0, clock.wall() - answered) },
      notes: [...notes, ...(left.length > 0 ? [`left out: ${listText(left)}`] : [])],
    };
  }
}

const unresolved = (problem: string): DomainState => ({ kind: 'unresolved', addresses: [], problem });

/** docs/problems.md has what to do. */
export const NOT_SERVED = 'the API server has no DNSNameResolver (network.openshift.io/v1alpha1)';
export const UNANSWERED = 'no plugin has answered yet';
const WHO_CREATES = 'udn-cluster-manager creates it, with --dns-name-resolver';

/** A watch hears of the server each minute. */
const SILENT_MS = 120_000;
const HOLD_LOOK_MS = 60_000;
/** What ends one after the other ends together. */
const MIN_LOOK_MS = 1_000;
const QUIET_PER_ADDED_MS = 10;
/** Pods wait for what they have been told: TCP asks again after 1, 3 and 7 s. */
const MAX_QUIET_MS = 5_000;
