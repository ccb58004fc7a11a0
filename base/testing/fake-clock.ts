/** A clock for tests: time advances only when a test says so. */
import type { Clock } from '../clock.ts';

export interface FakeClock extends Clock {
  /** Lets time pass and calls what falls due, in order. Promises settle between two timers. */
  advance(milliseconds: number): Promise<void>;
  /** The same at once: what waits for a promise has not seen it when this returns. */
  pass(milliseconds: number): void;
  /** Jumps to the next timer. False when there is none. */
  next(): Promise<boolean>;
  /** Timers that have not fallen due. */
  readonly pending: number;
}

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
}

/** @param start wall clock in milliseconds since the epoch */
export const createFakeClock = (start = Date.UTC(2026, 0, 1)): FakeClock => {
  let elapsed = 0;
  let order = 0;
  const timers = new Set<Timer>();
  const earliest = (): Timer | undefined => [...timers].sort((a, b) => a.due - b.due || a.order - b.order)[0];
  const fire = (timer: Timer): void => {
    elapsed = Math.max(elapsed, timer.due);
    timers.delete(timer);
    timer.callback();
  };
  const firstUntil = (time: number): Timer | undefined => {
    const timer = earliest();
    return timer !== undefined && timer.due <= time ? timer : undefined;
  };
  return {
    wall: () => start + elapsed,
    monotonic: () => elapsed,
    schedule: (milliseconds, callback) => {
      const timer = { due: elapsed + Math.max(0, milliseconds), order: order++, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: async (milliseconds) => {
      const until = elapsed + milliseconds;
      await settle();
      for (let timer = firstUntil(until); timer !== undefined; timer = firstUntil(until)) {
        fire(timer);
        await settle();
      }
      elapsed = until;
      await settle();
    },
    pass: (milliseconds) => {
      const until = elapsed + milliseconds;
      for (let timer = firstUntil(until); timer !== undefined; timer = firstUntil(until)) fire(timer);
      elapsed = until;
    },
    next: async () => {
      await settle();
      const timer = earliest();
      if (timer === undefined) return false;
      fire(timer);
      await settle();
      return true;
    },
    get pending() {
      return timers.size;
    },
  };
};

/** A turn of the event loop: every promise that can settle has. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
