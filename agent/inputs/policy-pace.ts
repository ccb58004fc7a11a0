/**
 * Collects changes of policies that come one after the other: each transaction with a rule has northd work out all logical flows of the node
 * again (ADR 134). The first is never held up, so a policy that comes alone is as fast as it can be.
 */
import type { Clock } from '../../base/clock.ts';

/** About what northd needs to work out the flows of a node with 140 networks. */
export const POLICY_PACE_MS = 100;

export class PolicyPace {
  readonly #clock: Clock | undefined;
  /** By what they are about: of two changes of one object the later one counts. */
  readonly #held = new Map<string, () => void>();
  #last = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  /** @param clock absent: nothing is held */
  constructor(clock: Clock | undefined) {
    this.#clock = clock;
  }

  /** Now, or with all others that come until `POLICY_PACE_MS` after the last that were made. @throws what it throws, if it is made now */
  make(key: string, change: () => void): void {
    const clock = this.#clock;
    const waitMs = clock === undefined ? 0 : this.#last + POLICY_PACE_MS - clock.monotonic();
    if (clock === undefined || (waitMs <= 0 && this.#held.size === 0)) {
      this.#last = clock?.monotonic() ?? 0;
      change();
      return;
    }
    this.#held.set(key, change);
    this.#cancel ??= clock.schedule(Math.max(0, waitMs), () => this.release());
  }

  /**
   * Makes all that are held. What one of them throws ends there: whoever follows policies knows of its errors, and mends them
   * (`PolicyKeeper`), and neither a timer nor a pod that starts has anything to do with them.
   */
  release(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#held.size === 0) return;
    const changes = [...this.#held.values()];
    this.#held.clear();
    this.#last = this.#clock?.monotonic() ?? 0;
    for (const change of changes)
      try {
        change();
      } catch {
        // As above.
      }
  }

  /** Forgets what is held. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#held.clear();
  }
}
