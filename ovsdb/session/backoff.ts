export interface BackoffOptions {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * Waiting times that double from `minMs` to `maxMs`, each shortened by a random part of up to a half, so that the clients
 * of a server that comes back do not all come at once.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: () => number;
  #failures = 0;

  constructor(options: BackoffOptions, random: () => number) {
    this.#options = options;
    this.#random = random;
  }

  nextMs(): number {
    const { minMs, maxMs } = this.#options;
    const full = Math.min(maxMs, minMs * 2 ** Math.min(this.#failures, 30));
    this.#failures++;
    return full * (1 - this.#random() / 2);
  }

  reset(): void {
    this.#failures = 0;
  }
}
