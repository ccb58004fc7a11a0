/**
 * Which wildcards of domain names some policy has, and which of them have a DNSNameResolver where there are too many: tenants choose how many
 * they name. Whoever names the fewest has room first, and administrators have a room of their own.
 */
import { dnsNameResolverName } from '../../api/dns-name-resolver.ts';
import type { InvolvedObject } from '../../kube/events/types.ts';
import type { DomainName } from '../../net/domain-name.ts';

export interface WildcardUser {
  readonly regarding: InvolvedObject;
  readonly isTenant: boolean;
  readonly wildcards: readonly DomainName[];
}

export class WildcardUses {
  readonly #most: number;
  readonly #users = new Map<string, WildcardUser>();
  #chosen: ReadonlyMap<string, DomainName> | undefined = new Map();
  readonly #listeners = new Set<() => void>();

  /** @param most of administrators, and as many of all tenants */
  constructor(most = MAX_WILDCARDS) {
    this.#most = most;
  }

  /** @param user undefined: it is gone */
  set(key: string, user: WildcardUser | undefined): void {
    const before = this.#users.get(key);
    if (user === undefined || user.wildcards.length === 0) this.#users.delete(key);
    else this.#users.set(key, user);
    const [old = [], now = []] = [before?.wildcards, user?.wildcards];
    if (old.length === 0 && now.length === 0) return;
    this.#chosen = undefined;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Those that have room, by name of the object. */
  chosen(): ReadonlyMap<string, DomainName> {
    if (this.#chosen !== undefined) return this.#chosen;
    const chosen = [false, true].flatMap((isTenant) => this.#chosenOf(isTenant));
    this.#chosen = new Map(chosen.map((wildcard) => [dnsNameResolverName(wildcard), wildcard]));
    return this.#chosen;
  }

  users(): Iterable<[key: string, user: WildcardUser]> {
    return this.#users;
  }

  /** Called after a change. @returns what ends it */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #chosenOf(isTenant: boolean): readonly DomainName[] {
    const chosen = new Set<DomainName>();
    const own = [...this.#users].filter(([, user]) => user.isTenant === isTenant);
    const ordered = own.sort(([a, { wildcards: ofA }], [b, { wildcards: ofB }]) =>
      ofA.length === ofB.length ? (a < b ? -1 : 1) : ofA.length - ofB.length,
    );
    for (const [, { wildcards }] of ordered)
      for (const wildcard of wildcards) if (chosen.size < this.#most) chosen.add(wildcard);
    return [...chosen];
  }
}

/** As many names do agents resolve of each. */
const MAX_WILDCARDS = 2_000;
