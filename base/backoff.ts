/** Waiting times between tries. */
export interface BackoffOptions {
  readonly minMs: number;
  readonly maxMs: number;
  /** In [0, 1]. Without it a wait has its full length: where one waits for what only it uses. */
  readonly random?: (() => number) | undefined;
}

/**
 * Before try n+1 after the n-th failure in a row: half of `min * 2^(n-1)` (at most `max`) plus a random part of the
 * other half, so that many clients of a server that comes back do not come at once.
 */
export const backoffMs = ({ minMs, maxMs, random = () => 1 }: BackoffOptions, failures: number): number => {
  const full = Math.min(maxMs, minMs * 2 ** Math.min(failures - 1, 30));
  return full / 2 + (full / 2) * random();
};

/** The same for one that fails and succeeds by turns. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** After another failure. */
  nextMs(): number {
    this.#failures++;
    return backoffMs(this.#options, this.#failures);
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  reset(): void {
    this.#failures = 0;
  }
}
