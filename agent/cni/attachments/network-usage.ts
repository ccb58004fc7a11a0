/**
 * Which networks something of this node uses, as facts. A network that nobody uses any more stays for a while: a pod that
 * is deleted is mostly followed by another one, and making a network costs OVN far more than keeping it.
 */
import type { Clock } from '../../../base/clock.ts';
import { MultiMap } from '../../../base/multi-map.ts';
import type { UsageSink } from '../../desired/engine.ts';
import type { FactStore } from '../../model/fact-store.ts';

interface NetworkUsageOptions {
  readonly facts: FactStore;
  readonly clock: Pick<Clock, 'schedule'>;
  /** How long a network stays after its last user. */
  readonly graceMs: number;
}

/** Networks that a node has: each has a port of the host. */
export const networksOfPorts = (
  interfaces: Iterable<{ readonly external_ids: Readonly<Record<string, string>> }>,
): Set<string> => new Set([...interfaces].flatMap(({ external_ids: ids }) => ids['k8s.ovn.org/network'] ?? []));

/** Keeps the facts of kind `networkInUse` current. */
export class NetworkUsage implements UsageSink {
  readonly #options: NetworkUsageOptions;
  readonly #usersOf = new MultiMap<string>();
  readonly #usedBy = new Map<string, ReadonlySet<string>>();
  readonly #endings = new Map<string, () => void>();

  constructor(options: NetworkUsageOptions) {
    this.#options = options;
  }

  set(user: string, networks: readonly string[]): void {
    const before = this.#usedBy.get(user) ?? NONE;
    const now = new Set(networks);
    if (now.size === 0) this.#usedBy.delete(user);
    else this.#usedBy.set(user, now);
    for (const network of now.difference(before)) this.#enter(user, network);
    for (const network of before.difference(now)) this.#leave(user, network);
  }

  delete(user: string): void {
    this.set(user, []);
  }

  /**
   * To be called at the start, with what the node has from before. Nobody knows how long ago its last user went, so the
   * time restarts: an agent that is started again takes nothing away that a pod may come back to.
   */
  linger(networks: Iterable<string>): void {
    for (const network of networks) {
      if (this.#usersOf.count(network) > 0 || this.#endings.has(network)) continue;
      this.#options.facts.set('networkInUse', network, true);
      this.#endLater(network);
    }
  }

  stop(): void {
    for (const cancel of this.#endings.values()) cancel();
    this.#endings.clear();
  }

  #enter(user: string, network: string): void {
    this.#endings.get(network)?.();
    this.#endings.delete(network);
    this.#usersOf.add(network, user);
    this.#options.facts.set('networkInUse', network, true);
    this.#share(network);
  }

  #leave(user: string, network: string): void {
    const wasUsed = this.#usersOf.delete(network, user);
    this.#share(network);
    if (wasUsed && this.#usersOf.count(network) === 0) this.#endLater(network);
  }

  /** By how many there are alone, so that an agent that is started again says the same. */
  #share(network: string): void {
    const users = this.#usersOf.count(network);
    this.#options.facts.set('networkShares', network, users > 1 ? powerOfTwo(users) : undefined);
  }

  #endLater(network: string): void {
    const { facts, clock, graceMs } = this.#options;
    const end = (): void => {
      this.#endings.delete(network);
      facts.set('networkInUse', network, undefined);
    };
    this.#endings.set(network, clock.schedule(graceMs, end));
  }
}

/** The least that is not below. */
export const powerOfTwo = (count: number): number => 2 ** Math.ceil(Math.log2(count));

const NONE: ReadonlySet<string> = new Set();
