/** The streams that are open now. */
import type { HttpResponse, StreamSink } from './requests/types.ts';

export interface Watches {
  /**
   * Starts a stream. `close` is called once, however it ends.
   * @returns what ends it from the client's side
   */
  open(start: StreamStart, write: StreamSink['write'], close: (error?: unknown) => void): (error?: unknown) => void;
  /** Ends them from the server's side. */
  endAll(): void;
}

type StreamStart = Extract<HttpResponse, { stream: unknown }>['stream'];

export const createWatches = (): Watches => {
  const open = new Set<() => void>();
  return {
    open: (start, write, close) => {
      let ended = false;
      let stop = (): void => {};
      const finish = (error?: unknown): void => {
        if (ended) return;
        ended = true;
        open.delete(finish);
        stop();
        close(error);
      };
      // The stream may end while it is being started: a version that is too old.
      stop = start({ write, end: () => finish() });
      if (ended) stop();
      else open.add(finish);
      return finish;
    },
    endAll: () => {
      for (const end of [...open]) end();
    },
  };
};
