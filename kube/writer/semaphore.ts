/** At most so many at once, and at most so many of one lane; the others wait, and their turns go round the lanes. */
import { createFairLanes } from '../fair-lanes.ts';

export interface Semaphore {
  run<T>(lane: string, task: () => Promise<T>): Promise<T>;
}

interface Waiter {
  readonly lane: string;
}

/** @param limitOf how many of a lane at once. Default: as many as there may be */
export const createSemaphore = (limit: number, limitOf?: (lane: string) => number): Semaphore => {
  let free = limit;
  const waiting = createFairLanes<Waiter, () => void>(({ lane }) => lane, limitOf);
  const start = (): void => {
    while (free > 0) {
      const next = waiting.take();
      if (next === undefined) return;
      free -= 1;
      next[1]();
    }
  };
  return {
    run: async (lane, task) => {
      const waiter = { lane };
      await new Promise<void>((resolve) => {
        waiting.add(waiter, resolve);
        start();
      });
      try {
        return await task();
      } finally {
        free += 1;
        waiting.end(waiter);
        start();
      }
    },
  };
};
