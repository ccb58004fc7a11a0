/** What several runs of the same benchmarks measured, as one document. Pure. */
import type { BenchResult } from './result.ts';

/**
 * @param runs the results of each run; a benchmark that one of them could not run is missing there
 * @returns for each benchmark the run with the median ratio, and the ratios of all runs, ascending
 */
export const repeated = (runs: readonly (readonly BenchResult[])[]): BenchResult[] => {
  const byName = Map.groupBy(runs.flat(), ({ name }) => name);
  return [...byName.values()].flatMap((results) => {
    const sorted = results.toSorted((a, b) => a.ratio - b.ratio);
    // Of an even number the lower one: a run that was measured, not a mean of two.
    const middle = sorted[(sorted.length - 1) >> 1];
    return middle === undefined ? [] : [{ ...middle, ratios: sorted.map(({ ratio }) => ratio) }];
  });
};
