/** How many programs shared a processor while something was measured: what waits for its turn there takes so many times as long. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

export interface Crowding {
  /** @returns of the five seconds that were worst: threads that could run, for each processor; 1 at least */
  stop(): number;
}

const SAMPLE_MS = 250;
const WINDOW = 5_000 / SAMPLE_MS;

export const watchCrowding = (): Crowding => {
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(runnable(readFileSync('/proc/loadavg', 'utf8'))), SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return crowdingOf(samples, availableParallelism());
    },
  };
};

/** Of proc_loadavg(5): its fourth field is `threads that can run/threads`; the one that reads is one of them. */
const runnable = (text: string): number => Math.max(0, Number(text.split(' ')[3]?.split('/')[0]) - 1);

export const crowdingOf = (samples: readonly number[], processors: number): number => {
  const sums = samples.map((_, end) => mean(samples.slice(Math.max(0, end + 1 - WINDOW), end + 1)));
  return Math.max(1, ...sums.map((sum) => sum / processors));
};

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
