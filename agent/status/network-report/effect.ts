/**
 * Networks that are all written and have no effect yet, as a daemon does not follow: rows alone connect nobody. One that was in effect once
 * stays ready, as pods on it work on; that new ones do not start on this node is told by the health of the node.
 */
import type { Clock } from '../../../base/clock.ts';
import type { NetworkOnNode } from './ledger.ts';

export interface EffectOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Why a daemon does not follow. */
  readonly unfollowed: () => string | undefined;
  /** By the clock: what was written by then is in effect. Undefined: nothing is known to be. */
  readonly inEffectUntil: () => number | undefined;
  /** Those of before: they are in effect where they are ready when they are first looked at. */
  readonly earlier: Iterable<string>;
}

export class NetworksInEffect {
  readonly #options: EffectOptions;
  readonly #earlier: Set<string>;
  readonly #proven = new Set<string>();
  /** When the others were seen to be all written, by the clock. */
  readonly #written = new Map<string, number>();

  constructor(options: EffectOptions) {
    this.#options = options;
    this.#earlier = new Set(options.earlier);
  }

  /** @param seen what is written of it */
  look(network: string, seen: NetworkOnNode | undefined): NetworkOnNode | undefined {
    const isEarlier = this.#earlier.delete(network);
    if (seen === undefined) this.#proven.delete(network);
    if (seen?.state !== 'Ready') {
      this.#written.delete(network);
      return seen;
    }
    if (isEarlier) this.#proven.add(network);
    if (this.#proven.has(network)) return seen;
    if (!this.#written.has(network)) this.#written.set(network, this.#options.clock.monotonic());
    this.#prove();
    const unfollowed = this.#written.has(network) ? this.#options.unfollowed() : undefined;
    return unfollowed === undefined ? seen : { ...seen, state: 'Pending', message: unfollowed };
  }

  /** Ready ones that are not known to be in effect: to be looked at again when somebody stops to follow, or follows again. */
  unproven(): readonly string[] {
    this.#prove();
    return [...this.#written.keys()];
  }

  #prove(): void {
    const until = this.#options.inEffectUntil();
    if (until === undefined) return;
    for (const [network, at] of this.#written) {
      if (at >= until) continue;
      this.#written.delete(network);
      this.#proven.add(network);
    }
  }
}
