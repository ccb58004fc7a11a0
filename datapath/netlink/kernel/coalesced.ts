/**
 * Makes a call that serves everybody who asked before it started: while one is under way, all who ask share the next one.
 */
export const coalesced = (call: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    next = undefined;
    running = call().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    // Between the end of one call and the start of the next there is a moment with neither of them running.
    if (next !== undefined) return next;
    if (running === undefined) return start();
    next = running.then(start, start);
    return next;
  };
};
