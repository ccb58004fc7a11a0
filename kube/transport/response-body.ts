/** The body of a response as chunks. Unlike a generator it frees the connection also when it is left before it is begun. */
import type { IncomingMessage } from 'node:http';

export interface BodyHooks {
  /** Called once, when the body has ended in whatever way. */
  release(): void;
  /** What to throw for a failure of the connection. */
  failureOf(cause: unknown): unknown;
}

export const responseBody = (
  incoming: IncomingMessage,
  { release, failureOf }: BodyHooks,
): AsyncIterable<Uint8Array> => {
  // The iterator below reports errors; without a listener an error before the first read would end the process.
  incoming.on('error', () => {});
  incoming.once('close', release);
  const chunks: AsyncIterator<Uint8Array> = incoming[Symbol.asyncIterator]();
  const iterator: AsyncIterator<Uint8Array> = {
    next: async () => {
      try {
        return await chunks.next();
      } catch (cause) {
        throw failureOf(cause);
      }
    },
    return: () => {
      incoming.destroy();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
};
