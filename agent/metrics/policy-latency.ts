/**
 * How long policies take from their event to OVN: from when the agent hears of a change until the northbound database has all that it was to
 * have by then, so an upper bound where other things change, too. Changes that make nothing to write here are not counted.
 */
import type { Clock } from '../../base/clock.ts';

export interface PolicyLatencyOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'schedule'>;
  /** Whether policies are held for a moment (ADR 134). */
  readonly isHolding: () => boolean;
  /** Of the reconciler of the northbound database. */
  readonly northbound: { readonly depth: () => number; readonly whenIdle: (signal: AbortSignal) => Promise<unknown> };
  readonly observe: (seconds: number) => void;
}

export class PolicyLatency {
  readonly #options: PolicyLatencyOptions;
  readonly #stop = new AbortController();
  #heardMs: number | undefined;
  #isLooking = false;
  #cancel = (): void => undefined;

  constructor(options: PolicyLatencyOptions) {
    this.#options = options;
  }

  /** To be called behind those who make facts of the change: what they have rendered in an immediate is there when this looks in one. */
  heard(): void {
    this.#heardMs ??= this.#options.clock.monotonic();
    this.#look();
  }

  stop(): void {
    this.#stop.abort();
    this.#cancel();
  }

  #look(): void {
    if (this.#isLooking || this.#heardMs === undefined || this.#stop.signal.aborted) return;
    this.#isLooking = true;
    setImmediate(() => void this.#settle());
  }

  async #settle(): Promise<void> {
    const { clock, isHolding, northbound, observe } = this.#options;
    if (isHolding()) {
      // Those who hold them have a timer of their own, of 100 ms.
      this.#cancel = clock.schedule(HELD_MS, () => void this.#settle());
      return;
    }
    const heardMs = this.#heardMs ?? clock.monotonic();
    this.#heardMs = undefined;
    if (northbound.depth() > 0) {
      try {
        await northbound.whenIdle(this.#stop.signal);
      } catch {
        // It is stopped.
        return;
      }
      observe((clock.monotonic() - heardMs) / 1000);
    }
    this.#isLooking = false;
    this.#look();
  }
}

const HELD_MS = 50;
