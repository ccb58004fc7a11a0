/** The console over HTTP, on the loopback addresses of this machine alone: its page, the stream of changes, and questions to nodes. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { codeOf } from '../../base/error-code.ts';
import { messageOf } from '../../base/error-message.ts';
import { createPublicServer } from '../../program/public-server.ts';
import { eventStream } from './event-stream.ts';
import { ASK_PATH, refusalOf } from './guard.ts';
import type { Live } from './live.ts';
import { type Question, questionOf } from './question.ts';
import type { Answer } from './types.ts';

export interface Asset {
  readonly type: string;
  readonly text: string;
}

export interface ConsoleServerOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly token: string;
  /** Of the page, by their paths: they hold nothing of the cluster. */
  readonly assets: ReadonlyMap<string, Asset>;
  readonly live: Pick<Live, 'subscribe'>;
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer>;
}

export interface ConsoleServer {
  readonly port: number;
  close(): Promise<void>;
}

/** IPv6 may be switched off. */
const HOSTS = ['127.0.0.1', '::1'] as const;
const MAX_CONNECTIONS = 64;

/** @throws when the port can't be listened on */
export const startConsoleServer = async (options: ConsoleServerOptions): Promise<ConsoleServer> => {
  const open = { streams: 0, questions: 0 };
  const servers: Server[] = [];
  let port = options.port;
  const close = async (): Promise<void> => {
    await Promise.all(servers.map(closed));
  };
  for (const host of HOSTS) {
    const server = createPublicServer((request, response) => {
      answer(request, response, { ...options, port, open }).catch((error: unknown) => {
        if (!response.headersSent) reply(response, 500, messageOf(error));
        else response.destroy();
      });
    }, MAX_CONNECTIONS);
    try {
      port = await listening(server, port, host);
      servers.push(server);
    } catch (error) {
      if (servers.length > 0 && NO_IPV6.includes(codeOf(error) ?? '')) continue;
      await close();
      throw error;
    }
  }
  return { port, close };
};

const NO_IPV6: readonly string[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

const listening = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => resolve((server.address() as AddressInfo).port));
  });

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

interface Context extends ConsoleServerOptions {
  /** How many of each are being answered. */
  readonly open: { streams: number; questions: number };
}

const answer = async (request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> => {
  const { assets, port, token } = context;
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  for (const [name, value] of HEADERS) response.setHeader(name, value);
  const guarded = { method: request.method ?? '', path, headers: request.headers };
  const refusal = refusalOf(guarded, { port, token, isPublic: (one) => assets.has(one) });
  if (refusal !== undefined) return reply(response, refusal.status, refusal.message);
  const asset = assets.get(path);
  if (asset !== undefined) {
    response.writeHead(200, { 'content-type': asset.type }).end(asset.text);
    return;
  }
  if (path === STREAM_PATH) return stream(response, new URLSearchParams(query).get('network') ?? undefined, context);
  if (path === ASK_PATH) return await ask(request, response, context);
  reply(response, 404, 'not found');
};

const STREAM_PATH = '/api/stream';

/** Only what this server sends is loaded, and no other page may embed, open or read this one. */
const HEADERS: readonly (readonly [name: string, value: string])[] = [
  [
    'content-security-policy',
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  ],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
];

const reply = (response: ServerResponse, status: number, message: string): void => {
  // What is left of a body is not read.
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${message}\n`);
};

const MAX_STREAMS = 16;

const stream = (response: ServerResponse, network: string | undefined, { live, open }: Context): void => {
  if (open.streams >= MAX_STREAMS) {
    reply(response, 429, 'too many pages are open');
    return;
  }
  open.streams += 1;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  const unsubscribe = live.subscribe({ network, send: eventStream(response) });
  response.once('close', () => {
    open.streams -= 1;
    unsubscribe();
  });
};

const MAX_QUESTIONS = 2;
const MAX_BODY = 4_096;
const ANSWER_MS = 60_000;

const ask = async (request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> => {
  const { open } = context;
  if (!/^application\/json(?:;|$)/.test(request.headers['content-type'] ?? '')) {
    return reply(response, 415, 'application/json only');
  }
  if (open.questions >= MAX_QUESTIONS) return reply(response, 429, `${MAX_QUESTIONS} questions are being answered`);
  open.questions += 1;
  try {
    const body = await bodyOf(request);
    if (body === undefined) return reply(response, 413, `at most ${MAX_BODY} bytes`);
    const question = questionOf(jsonOf(body));
    if (question === undefined) return reply(response, 400, 'a node does not answer this question');
    const given = await answerTo(question, response, context);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(given));
  } finally {
    open.questions -= 1;
  }
};

/** Ends when the page is closed, too. */
const answerTo = async (question: Question, response: ServerResponse, context: Context): Promise<Answer> => {
  const gone = new AbortController();
  const onClose = (): void => gone.abort(new Error('the page was closed'));
  response.once('close', onClose);
  try {
    return await context.ask(question, AbortSignal.any([gone.signal, AbortSignal.timeout(ANSWER_MS)]));
  } finally {
    response.off('close', onClose);
  }
};

/** Undefined: it is too long. */
const bodyOf = async (request: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
