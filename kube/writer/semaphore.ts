/** At most so many at once; the others wait, and their turns go round the lanes. */
import { createFairLanes } from '../fair-lanes.ts';

export interface Semaphore {
  run<T>(lane: string, task: () => Promise<T>): Promise<T>;
}

interface Waiter {
  readonly lane: string;
}

export const createSemaphore = (limit: number): Semaphore => {
  let free = limit;
  const waiting = createFairLanes<Waiter, () => void>(({ lane }) => lane);
  const release = (): void => {
    const next = waiting.take();
    if (next === undefined) free += 1;
    else next[1]();
  };
  return {
    run: async (lane, task) => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.add({ lane }, resolve));
      try {
        return await task();
      } finally {
        release();
      }
    },
  };
};
