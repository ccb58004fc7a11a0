/** A transport that calls the server's handler: no sockets, no copies of bytes. */
import { onAbort } from '../../base/abort.ts';
import type { Transport, TransportResponse } from '../transport/types.ts';
import { createChunkQueue } from './chunk-queue.ts';
import type { HttpResponse } from './requests/types.ts';
import type { Handler } from './router.ts';
import type { Watches } from './watches.ts';

export const createInProcessTransport = (handle: Handler, watches: Watches): Transport => ({
  send: async ({ method, path, headers, body = '' }, signal) => {
    signal?.throwIfAborted();
    // A real exchange never completes in the turn in which it began.
    await Promise.resolve();
    signal?.throwIfAborted();
    const response = handle({ method, path, headers, body, bytes: () => Buffer.from(body) });
    if ('body' in response) return { ...response, body: once(Buffer.from(response.body)) };
    return { status: response.status, headers: response.headers, body: streamBody(response.stream, watches, signal) };
  },
  close: () => {},
});

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield await Promise.resolve(chunk);
}

type Stream = Extract<HttpResponse, { stream: unknown }>['stream'];

const streamBody = (start: Stream, watches: Watches, signal: AbortSignal | undefined): TransportResponse['body'] => {
  const queue = createChunkQueue();
  let stopListening: () => void = () => {};
  const finish = watches.open(start, queue.push, (error) => {
    stopListening();
    queue.end(error);
  });
  stopListening = onAbort(signal, () => finish(signal?.reason));
  return { [Symbol.asyncIterator]: () => queue.iterate(() => finish()) };
};
