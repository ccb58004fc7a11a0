/** How a loop gets on: what metrics and probes ask. It looks at the clock and decides nothing. */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import type { QueueState } from '../../base/reconciler.ts';

export class LoopProgress {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #busySince: number | undefined;
  #lastStep = 0;
  #hasCompared = false;
  #failure: { readonly since: number; readonly message: string } | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get hasCompared(): boolean {
    return this.#hasCompared;
  }

  /** There is something to do. Repeating it does nothing. */
  begin(): void {
    if (this.#busySince !== undefined) return;
    this.#busySince = this.#clock.monotonic();
    this.#lastStep = this.#busySince;
  }

  /** The backend has answered. */
  done(full: boolean): void {
    this.#lastStep = this.#clock.monotonic();
    this.#hasCompared ||= full;
    this.#failure = undefined;
  }

  /** It has not. */
  failed(error: unknown): void {
    this.#lastStep = this.#clock.monotonic();
    this.#failure = { since: this.#failure?.since ?? this.#lastStep, message: messageOf(error) };
  }

  /** Nothing is left, nor waits to be tried again. */
  idle(): void {
    this.#busySince = undefined;
  }

  /** @param isAtWork a step is to come by itself, without an event or a time that is waited for */
  state(depth: number, isAtWork: boolean): QueueState {
    const now = this.#clock.monotonic();
    return {
      depth,
      oldestMs: this.#busySince === undefined ? 0 : now - this.#busySince,
      stalledMs: isAtWork ? now - this.#lastStep : 0,
      hasCompared: this.#hasCompared,
      failing: this.#failure && { forMs: now - this.#failure.since, message: this.#failure.message },
    };
  }
}
