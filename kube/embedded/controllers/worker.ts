/** What controllers have to do, each thing once, after the request that caused it has been answered. */
export interface Worker {
  /** Replaces a task of the same name that has not run. */
  add(name: string, task: () => void): void;
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>;
  close(): void;
}

/** @param onError called with a task that threw; it is not run again by itself */
export const createWorker = (onError: (name: string, error: unknown) => void): Worker => {
  const tasks = new Map<string, () => void>();
  const waiters: (() => void)[] = [];
  let timer: NodeJS.Immediate | undefined;
  const run = (): void => {
    timer = undefined;
    for (const [name, task] of [...tasks]) {
      tasks.delete(name);
      try {
        task();
      } catch (error) {
        onError(name, error);
      }
    }
    if (tasks.size > 0) schedule();
    else for (const resolve of waiters.splice(0)) resolve();
  };
  const schedule = (): void => {
    timer ??= setImmediate(run);
  };
  return {
    add: (name, task) => {
      tasks.set(name, task);
      schedule();
    },
    settled: () => (tasks.size === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
    close: () => {
      clearImmediate(timer);
      tasks.clear();
      for (const resolve of waiters.splice(0)) resolve();
    },
  };
};
