/**
 * Collects changes of policies that come in a long row: each transaction with a rule has northd work out all logical flows of the node
 * again (ADR 134). What costs is the transaction, so changes of one turn of the event loop count as one: they lead together or wait together.
 */
import type { Clock } from '../../base/clock.ts';

/** About what northd needs to work out the flows of a node with 140 networks. */
export const POLICY_PACE_MS = 100;
/** As many turns with changes lead before any is held: policies that belong together are few. */
export const POLICY_BURST = 8;

export interface PolicyPaceOptions {
  /** Absent: nothing is held. */
  readonly clock: Clock | undefined;
  /** A change that was held has failed: nobody is there any more to throw at. */
  readonly onFailure: (key: string, error: unknown) => void;
}

export class PolicyPace {
  readonly #options: PolicyPaceOptions;
  /** By what they are about: of two changes of one object the later one counts. */
  readonly #held = new Map<string, () => void>();
  #allowance = POLICY_BURST;
  #countedMs = Number.NEGATIVE_INFINITY;
  /** Changes of this turn are made: what comes in it still is in the same transaction. */
  #isLeading = false;
  #cancel: (() => void) | undefined;
  /** With when they came: a policy that is deleted and created again is one change. */
  readonly #deletions = new Map<string, { readonly change: () => void; readonly atMs: number }>();
  #cancelDeletions: (() => void) | undefined;

  constructor(options: PolicyPaceOptions) {
    this.#options = options;
  }

  /**
   * A deletion is made `POLICY_PACE_MS` later, or twice that in a long row, and for nobody sooner: the policy may be recreated, and its pods
   * would be open in between. @throws what the change throws, if it is made alone and now
   */
  make(key: string, change: () => void, isDeletion = false): void {
    const { clock } = this.#options;
    if (clock === undefined) {
      change();
      return;
    }
    if (isDeletion) {
      this.#held.delete(key);
      if (!this.#deletions.has(key)) this.#deletions.set(key, { change, atMs: clock.monotonic() });
      this.#scheduleDeletions(clock);
      return;
    }
    this.#deletions.delete(key);
    if (this.#isLeading) {
      change();
      return;
    }
    this.#count(clock);
    const isHeld = this.#allowance < 1;
    if (!isHeld && this.#held.size === 0) {
      this.#lead();
      change();
      return;
    }
    this.#held.set(key, change);
    if (isHeld) this.#cancel ??= clock.schedule(POLICY_PACE_MS, () => this.release());
    else this.release();
  }

  /** Makes all that are held but deletions, whatever one of them throws: neither a timer nor a pod that starts has anything to do with it. */
  release(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#held.size === 0) return;
    const changes = [...this.#held];
    this.#held.clear();
    this.#lead();
    for (const [key, change] of changes) this.#makeHeld(key, change);
  }

  /** Forgets what is held. */
  get isHolding(): boolean {
    return this.#held.size + this.#deletions.size > 0;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#held.clear();
    this.#cancelDeletions?.();
    this.#cancelDeletions = undefined;
    this.#deletions.clear();
  }

  #scheduleDeletions(clock: Clock): void {
    if (this.#deletions.size === 0) return;
    this.#cancelDeletions ??= clock.schedule(POLICY_PACE_MS, () => {
      this.#cancelDeletions = undefined;
      const due = clock.monotonic() - POLICY_PACE_MS;
      for (const [key, { change, atMs }] of [...this.#deletions]) {
        if (atMs > due) continue;
        this.#deletions.delete(key);
        this.#makeHeld(key, change);
      }
      this.#scheduleDeletions(clock);
    });
  }

  #makeHeld(key: string, change: () => void): void {
    try {
      change();
    } catch (error) {
      this.#options.onFailure(key, error);
    }
  }

  /** Until the immediates of this turn: the engine renders in one of them. */
  #lead(): void {
    this.#allowance = Math.max(0, this.#allowance - 1);
    this.#isLeading = true;
    setImmediate(() => {
      this.#isLeading = false;
    });
  }

  #count(clock: Clock): void {
    const now = clock.monotonic();
    this.#allowance = Math.min(POLICY_BURST, this.#allowance + (now - this.#countedMs) / POLICY_PACE_MS);
    this.#countedMs = now;
  }
}
