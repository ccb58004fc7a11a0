/** Of samples of one quantity. Pure. */

export const median = (samples: readonly number[]): number => percentile(samples, 50);

/**
 * The smallest sample that at least `percent` of all samples do not exceed (nearest rank): always one that was measured.
 * @throws RangeError without samples
 */
export const percentile = (samples: readonly number[], percent: number): number => {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('no samples');
  return value;
};
