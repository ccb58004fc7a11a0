/** At most so many at once; the others wait in order. */
export interface Semaphore {
  run<T>(task: () => Promise<T>): Promise<T>;
}

export const createSemaphore = (limit: number): Semaphore => {
  let free = limit;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    run: async (task) => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await task();
      } finally {
        release();
      }
    },
  };
};
