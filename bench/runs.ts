/** The runs of one benchmark, one after the other, on what was prepared for all of them. */
import { repeated } from './report/repeated.ts';
import type { BenchResult } from './report/result.ts';

export interface Runs {
  readonly count: number;
  readonly signal: AbortSignal;
  /** Receives the message of a run that failed after others had results. */
  readonly onFailure: (message: string) => void;
}

/** @param run counts from 0: only the first has rounds that do not count */
export type Measure = (run: number) => Promise<BenchResult[]>;

/**
 * @returns the run with the median ratio of each result, beside the ratios of all runs
 * @throws what the first run throws; what a later one does, ends the runs: it may have broken what was prepared
 */
export const eachRun = async ({ count, signal, onFailure }: Runs, measure: Measure): Promise<BenchResult[]> => {
  const results: BenchResult[][] = [];
  for (let run = 0; run < count; run++) {
    signal.throwIfAborted();
    try {
      results.push(await measure(run));
    } catch (error) {
      if (run === 0 || signal.aborted) throw error;
      onFailure(
        `run ${run + 1} of ${count}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
      break;
    }
  }
  return count === 1 ? results.flat() : repeated(results);
};
