/** Servers and transports of tests, which end with each test. Needs no privileges. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { type CredentialSources, createCredentials } from '../../config/credentials.ts';
import { createHttpTransport } from '../http-transport.ts';
import type { Transport, TransportResponse } from '../types.ts';

export interface Harness {
  /** Path of a file in a folder of the test file's own. */
  pathOf(name: string): string;
  /** Run after the test, the last one first. */
  readonly cleanups: (() => void | Promise<void>)[];
  /** @returns its port */
  listen(server: Server): Promise<number>;
  /** @returns its URL */
  serve(listener: RequestListener): Promise<string>;
  transportTo(server: string, sources?: CredentialSources, timeoutMs?: number, clock?: Clock): Transport;
}

/** Call it where tests are declared. */
export const useHarness = (): Harness => {
  let folder = '';
  const cleanups: (() => void | Promise<void>)[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'transport-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  const listen = async (server: Server): Promise<number> => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => void server.close());
    return (server.address() as AddressInfo).port;
  };
  return {
    pathOf: (name) => join(folder, name),
    cleanups,
    listen,
    serve: async (listener) => {
      const server = createServer(listener);
      cleanups.push(() => server.closeAllConnections());
      return `http://127.0.0.1:${await listen(server)}`;
    },
    transportTo: (server, sources = {}, timeoutMs = undefined, clock = systemClock) => {
      const credentials = createCredentials(sources, { clock });
      const transport = createHttpTransport({ connection: { server, namespace: 'default', credentials }, timeoutMs });
      cleanups.push(() => transport.close());
      return transport;
    },
  };
};

export const get = (transport: Transport, path = '/', signal?: AbortSignal): Promise<TransportResponse> =>
  transport.send({ method: 'GET', path, headers: {} }, signal);

export const text = async ({ body }: TransportResponse): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
