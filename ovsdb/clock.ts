/** Time, passed in so that tests need not wait. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Runs once after `ms`; the result cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
