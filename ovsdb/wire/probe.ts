import type { Clock } from '../../base/clock.ts';

/**
 * Finds out that a peer is gone although the connection still seems to be there: when nothing came for one interval, asks
 * for a sign of life, and gives up when nothing comes for another one.
 */
export class InactivityProbe {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #ask: () => void;
  readonly #giveUp: () => void;
  #lastSign: number;
  #asked = false;
  #cancel: () => void = () => {};

  constructor(options: { clock: Clock; intervalMs: number; ask: () => void; giveUp: () => void }) {
    this.#clock = options.clock;
    this.#intervalMs = options.intervalMs;
    this.#ask = options.ask;
    this.#giveUp = options.giveUp;
    this.#lastSign = this.#clock.monotonic();
    this.#schedule(this.#intervalMs);
  }

  /** Anything came from the peer. */
  touch(): void {
    this.#lastSign = this.#clock.monotonic();
    this.#asked = false;
  }

  stop(): void {
    this.#cancel();
  }

  #schedule(ms: number): void {
    this.#cancel = this.#clock.schedule(ms, () => this.#check());
  }

  #check(): void {
    const left = this.#lastSign + this.#intervalMs - this.#clock.monotonic();
    if (left > 0) this.#schedule(left);
    else if (this.#asked) this.#expire();
    else {
      this.#asked = true;
      this.#ask();
      this.#schedule(this.#intervalMs);
    }
  }

  /**
   * After this process was busy or asleep, timers run before the sockets are read: what the peer has sent may be waiting.
   * One more turn of the event loop reads it.
   */
  #expire(): void {
    this.#cancel = this.#clock.schedule(0, () => {
      if (this.#asked) this.#giveUp();
      else this.#check();
    });
  }
}
