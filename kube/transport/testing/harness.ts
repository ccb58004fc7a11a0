/** Servers and transports of tests, which end with each test. Needs no privileges. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type SecureServerOptions,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { type CredentialSources, createCredentials } from '../../config/credentials.ts';
import type { ClusterConnection } from '../../config/types.ts';
import { createHttpTransport, type HttpTransportOptions } from '../http-transport.ts';
import type { Transport, TransportResponse } from '../types.ts';

export const PROTOCOLS = ['HTTP/1.1', 'HTTP/2'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export interface Harness {
  /** Path of a file in a folder of the test file's own. */
  pathOf(name: string): string;
  /** Run after the test, the last one first. */
  readonly cleanups: (() => void | Promise<void>)[];
  /** @returns its port */
  listen(server: Server): Promise<number>;
  /** Ends all connections of its servers, as a machine does that crashes. */
  cut(): void;
  /** @returns its URL */
  serve(listener: RequestListener): Promise<string>;
  /** By TLS and HTTP/2. */
  serveHttp2(options?: SecureServerOptions): Promise<Http2Server>;
  /** Trusts the servers of this harness. */
  connectionTo(server: string, sources?: CredentialSources, clock?: Clock): ClusterConnection;
  transportTo(server: string, sources?: CredentialSources, timeoutMs?: number, clock?: Clock): Transport;
  /** With other options. */
  transportWith(options: HttpTransportOptions): Transport;
}

export interface Http2Server {
  readonly url: string;
  readonly server: Http2SecureServer;
  /** All that there were. */
  readonly sessions: readonly ServerHttp2Session[];
}

/** Call it where tests are declared. */
export const useHarness = (protocol: Protocol = 'HTTP/1.1'): Harness => {
  let folder = '';
  const cleanups: (() => void | Promise<void>)[] = [];
  const pathOf = (name: string): string => join(folder, name);
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'transport-'));
    await makeCertificate(folder);
  });
  afterAll(() => rm(folder, { recursive: true }));
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  const sockets = new Set<Socket>();
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  };
  const listen = async (server: Server): Promise<number> => {
    server.on('connection', (socket: Socket) => sockets.add(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => void server.close());
    return (server.address() as AddressInfo).port;
  };
  const serveHttp1 = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    cleanups.push(() => server.closeAllConnections());
    return `http://127.0.0.1:${await listen(server)}`;
  };
  const serveHttp2 = async (options: SecureServerOptions = {}): Promise<Http2Server> => {
    const [cert, key] = await Promise.all(['self.crt', 'self.key'].map((name) => readFile(pathOf(name))));
    const server = createSecureServer({ ...options, cert, key });
    const sessions: ServerHttp2Session[] = [];
    server.on('session', (session) => {
      sessions.push(session);
      session.on('error', () => undefined);
    });
    server.on('stream', (stream) => stream.on('error', () => undefined));
    cleanups.push(() => {
      for (const session of sessions) session.destroy();
    });
    return { url: `https://127.0.0.1:${await listen(server)}`, server, sessions };
  };
  const connectionTo: Harness['connectionTo'] = (server, sources = {}, clock = systemClock) => {
    const trust = protocol === 'HTTP/2' ? { ca: { file: pathOf('self.crt') } } : {};
    return { server, namespace: 'default', credentials: createCredentials({ ...trust, ...sources }, { clock }) };
  };
  const transportWith = (options: HttpTransportOptions): Transport => {
    const transport = createHttpTransport(options);
    cleanups.push(() => transport.close());
    return transport;
  };
  return {
    pathOf,
    cleanups,
    listen,
    cut,
    serve: async (listener) => {
      if (protocol === 'HTTP/1.1') return serveHttp1(listener);
      const { url, server } = await serveHttp2();
      // What is used of both is the same.
      server.on('request', listener as never);
      return url;
    },
    serveHttp2,
    connectionTo,
    transportWith,
    transportTo: (server, sources = {}, timeoutMs = undefined, clock = systemClock) =>
      transportWith({ connection: connectionTo(server, sources, clock), timeoutMs }),
  };
};

const run = promisify(execFile);

const makeCertificate = (folder: string) =>
  run(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', '/CN=server', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'],
      ...['-keyout', 'self.key', '-out', 'self.crt'],
    ],
    { cwd: folder },
  );

export const get = (transport: Transport, path = '/', signal?: AbortSignal): Promise<TransportResponse> =>
  transport.send({ method: 'GET', path, headers: {} }, signal);

export const watch = (transport: Transport, path = '/', signal?: AbortSignal): Promise<TransportResponse> =>
  transport.send({ method: 'GET', path, headers: {}, streaming: true }, signal);

export const text = async ({ body }: TransportResponse): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
