/** The server's listeners: plain HTTP/1.1 on TCP or unix sockets. */
import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EmbeddedClusterCore } from './cluster.ts';
import type { HttpResponse } from './requests/types.ts';
import { errorResponse, isHealthCheck } from './router.ts';
import { StatusError, unauthorized } from './status-error.ts';
import type { ListenTcp, ListenUnix } from './types.ts';

export interface Listener {
  /** `http://host:port` or `unix:/path`. */
  readonly url: string;
  close(): Promise<void>;
}

/** @throws Error when the address can't be listened on */
export const listen = async (
  core: EmbeddedClusterCore,
  address: ListenTcp | ListenUnix,
  token: string | undefined,
): Promise<Listener> => {
  const server = createServer({ keepAliveTimeout: 120_000, requestTimeout: 0 }, (incoming, outgoing) => {
    void serve(core, token, incoming, outgoing);
  });
  if ('path' in address) await rm(address.path, { force: true });
  server.listen(address);
  await once(server, 'listening');
  return { url: urlOf(server, address), close: () => close(server, address) };
};

const urlOf = (server: Server, address: ListenTcp | ListenUnix): string => {
  if ('path' in address) return `unix:${address.path}`;
  const { port } = server.address() as AddressInfo;
  return `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`;
};

const close = async (server: Server, address: ListenTcp | ListenUnix): Promise<void> => {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
  if ('path' in address) await rm(address.path, { force: true });
};

const serve = async (
  core: EmbeddedClusterCore,
  token: string | undefined,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  const { method = 'GET', url: path = '/' } = incoming;
  const body = await readBody(incoming).catch((error: unknown) => error);
  if (!Buffer.isBuffer(body)) {
    // A client that is gone needs no answer.
    if (body instanceof StatusError) respond(core, errorResponse(body), outgoing);
    return;
  }
  const headers = flat(incoming);
  const allowed = token === undefined || isHealthCheck(path) || hasToken(headers['authorization'], token);
  respond(
    core,
    allowed
      ? core.handle({ method, path, headers, body: body.toString('utf8'), bytes: () => body })
      : errorResponse(unauthorized()),
    outgoing,
  );
};

/** As etcd's and kube-apiserver's limit on a request. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** What is too long is read to its end, or the client would not read the answer, but not kept. */
const readBody = async (incoming: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (size <= MAX_BODY_BYTES) return Buffer.concat(chunks);
  throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}`);
};

const flat = ({ headers }: IncomingMessage): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );

const hasToken = (authorization: string | undefined, token: string): boolean => {
  const given = Buffer.from(authorization?.replace(/^Bearer /i, '') ?? '');
  const desired = Buffer.from(token);
  return given.length === desired.length && timingSafeEqual(given, desired);
};

const respond = (core: EmbeddedClusterCore, response: HttpResponse, outgoing: ServerResponse): void => {
  if ('body' in response) {
    outgoing.writeHead(response.status, {
      ...response.headers,
      'content-length': Buffer.byteLength(response.body),
    });
    outgoing.end(response.body);
    return;
  }
  outgoing.writeHead(response.status, { ...response.headers, 'transfer-encoding': 'chunked' });
  outgoing.flushHeaders();
  const writer = createBatchWriter(outgoing);
  const finish = core.watches.open(response.stream, writer.write, writer.end);
  outgoing.once('close', () => finish());
};

/** A watcher that does not read is cut off here: it comes back and goes on from where it was. */
const MAX_BACKLOG_BYTES = 64 * 1024 * 1024;

interface BatchWriter {
  write(chunk: Buffer): void;
  end(): void;
}

/** Everything that is written in one turn of the event loop goes out in one piece. */
const createBatchWriter = (outgoing: ServerResponse): BatchWriter => {
  let batch: Buffer[] = [];
  const flush = (): void => {
    if (batch.length === 0) return;
    if (outgoing.writableLength > MAX_BACKLOG_BYTES) outgoing.destroy();
    else outgoing.write(Buffer.concat(batch));
    batch = [];
  };
  return {
    write: (chunk) => {
      if (batch.length === 0) setImmediate(flush);
      batch.push(chunk);
    },
    end: () => {
      flush();
      outgoing.end();
    },
  };
};
