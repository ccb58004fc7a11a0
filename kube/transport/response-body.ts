/** The body of a response as chunks. Unlike a generator it frees the connection also when it is left before it is begun. */
import type { Readable } from 'node:stream';

/** A body as a protocol has it. */
export interface Incoming {
  readonly stream: Readable;
  /** Ends it early. */
  leave(): void;
  /** At its end: false when it was cut off. */
  isWhole(): boolean;
}

export interface BodyHooks {
  /** Called once, when the body has ended in whatever way. */
  release(): void;
  /** What to throw for a failure of the connection. */
  failureOf(cause: unknown): unknown;
}

export const responseBody = (
  { stream, leave, isWhole }: Incoming,
  { release, failureOf }: BodyHooks,
): AsyncIterable<Uint8Array> => {
  stream.once('close', release);
  const read = reader(stream);
  const iterator: AsyncIterator<Uint8Array> = {
    next: async () => {
      const value = await read().catch((cause) => {
        throw failureOf(cause);
      });
      if (value !== undefined) return { done: false, value };
      if (!isWhole()) throw failureOf(new Error('the answer was cut off'));
      return { done: true, value };
    },
    return: () => {
      leave();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
};

/**
 * The next chunk, or undefined at the end. Node's own iterator takes a stream of HTTP/2 whose last byte has come for one that was
 * closed early, when it begins after that: `closed` is something else there.
 */
const reader = (stream: Readable): (() => Promise<Uint8Array | undefined>) => {
  let change = Promise.withResolvers<void>();
  const notify = (): void => {
    change.resolve();
    change = Promise.withResolvers();
  };
  // Also so that an error before the first read does not end the process.
  for (const event of ['readable', 'end', 'error', 'close']) stream.on(event, notify);
  return async () => {
    for (;;) {
      if (stream.errored) throw stream.errored;
      if (stream.readableEnded) return undefined;
      if (stream.destroyed) throw new Error('the connection was closed');
      const chunk: Uint8Array | null = stream.read();
      if (chunk !== null) return chunk;
      if (!stream.readableEnded && !stream.destroyed) await change.promise;
    }
  };
};
