/** Waiting times between tries. */
export interface BackoffOptions {
  readonly minMs: number;
  readonly maxMs: number;
  /** In [0, 1). */
  readonly random: () => number;
}

/**
 * Before try n+1 after the n-th failure in a row: half of `min * 2^(n-1)` (at most `max`) plus a random part of the
 * other half, so that many clients of a server that comes back do not come at once.
 */
export const backoffMs = ({ minMs, maxMs, random }: BackoffOptions, failures: number): number => {
  const full = Math.min(maxMs, minMs * 2 ** Math.min(failures - 1, 30));
  return full / 2 + (full / 2) * random();
};
