/** Time as it is passed in, so that tests own it. */
import { abortable } from './abort.ts';

export interface Clock {
  /** Milliseconds since the epoch: what is written into objects. */
  wall(): number;
  /** Milliseconds that never go back: what durations are measured with. */
  monotonic(): number;
  /** Calls back once after `milliseconds`. Returns what cancels it, which may be called at any time. */
  schedule(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  schedule: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** @throws the signal's reason, at once when it has been aborted already */
export const delay = (clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> =>
  abortable(signal, (resolve) => clock.schedule(milliseconds, resolve));
