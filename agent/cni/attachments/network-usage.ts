/**
 * Which networks something of this node uses, as facts. A network that nobody uses any more stays for a while: a pod that
 * is deleted is mostly followed by another one, and making a network costs OVN far more than keeping it.
 */
import type { Clock } from '../../../base/clock.ts';
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
  /** By network: how many attachments its users have to it. */
  readonly #uses = new Map<string, number>();
  /** By user. */
  readonly #usedBy = new Map<string, ReadonlyMap<string, number>>();
  readonly #endings = new Map<string, () => void>();

  constructor(options: NetworkUsageOptions) {
    this.#options = options;
  }

  /** @param networks as often as the user is attached to each: every attachment has a conntrack zone of its own */
  set(user: string, networks: readonly string[]): void {
    const before = this.#usedBy.get(user) ?? NONE;
    const now = countsOf(networks);
    if (now.size === 0) this.#usedBy.delete(user);
    else this.#usedBy.set(user, now);
    for (const [network, count] of now) this.#use(network, count - (before.get(network) ?? 0));
    for (const [network, count] of before) if (!now.has(network)) this.#use(network, -count);
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
      if (this.#uses.has(network) || this.#endings.has(network)) continue;
      this.#options.facts.set('networkInUse', network, true);
      this.#endLater(network);
    }
  }

  stop(): void {
    for (const cancel of this.#endings.values()) cancel();
    this.#endings.clear();
  }

  #use(network: string, more: number): void {
    if (more === 0) return;
    const uses = (this.#uses.get(network) ?? 0) + more;
    if (uses > 0) this.#uses.set(network, uses);
    else this.#uses.delete(network);
    if (uses > 0) {
      this.#endings.get(network)?.();
      this.#endings.delete(network);
      this.#options.facts.set('networkInUse', network, true);
    } else this.#endLater(network);
    // By how many there are alone, so that an agent that is started again says the same.
    this.#options.facts.set('networkShares', network, uses > 1 ? powerOfTwo(uses) : undefined);
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

const countsOf = (networks: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const network of networks) counts.set(network, (counts.get(network) ?? 0) + 1);
  return counts;
};

const NONE: ReadonlyMap<string, number> = new Map();
