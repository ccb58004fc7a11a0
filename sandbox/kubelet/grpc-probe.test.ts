import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { probeGrpc } from './grpc-probe.ts';

let server: Http2Server | undefined;

afterEach(() => {
  server?.close();
  server = undefined;
});

/** Answers one health check with a status of the call and of the service; remembers which service was asked for. */
const serve = async (grpcStatus: string, serving: number): Promise<{ port: number; asked: string[] }> => {
  const asked: string[] = [];
  server = createServer();
  server.on('stream', (stream) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      asked.push(Buffer.concat(chunks).subarray(7).toString());
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': grpcStatus }));
      stream.end(Buffer.of(0, 0, 0, 0, 2, 0x08, serving));
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, asked };
};

const signal = (): AbortSignal => AbortSignal.timeout(30_000);

it('is a success when the service says that it is serving', async () => {
  const { port, asked } = await serve('0', 1);
  await probeGrpc('127.0.0.1', port, 'ready', signal());
  expect(asked).toEqual(['ready']);
});

it('is a failure when it is not serving, not known, or not there', async () => {
  const notServing = await serve('0', 2);
  await expect(probeGrpc('127.0.0.1', notServing.port, '', signal())).rejects.toThrow('responded with 2');
  server?.close();
  const unknown = await serve('5', 0);
  await expect(probeGrpc('127.0.0.1', unknown.port, 'x', signal())).rejects.toThrow('gRPC status 5');
  server?.close();
  await expect(probeGrpc('127.0.0.1', unknown.port, '', signal())).rejects.toThrow();
});

it('ends when the time is over', async () => {
  server = createServer(() => undefined);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = new AbortController();
  server.on('stream', () => stop.abort());
  await expect(probeGrpc('127.0.0.1', port, '', stop.signal)).rejects.toThrow('timed out');
});
