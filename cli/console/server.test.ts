import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { onAbort, untilAborted } from '../../base/abort.ts';
import { messageOf } from '../../base/error-message.ts';
import type { Subscriber } from './live.ts';
import { ASSETS } from './page.gen.ts';
import type { Question } from './question.ts';
import { type ConsoleServer, startConsoleServer } from './server.ts';
import type { Answer } from './types.ts';

const TOKEN = 'a'.repeat(43);
const BEARER = { authorization: `Bearer ${TOKEN}` };
const JSON_TYPE = { 'content-type': 'application/json' };

let server: ConsoleServer | undefined;
afterEach(() => server?.close());

interface World {
  readonly server: ConsoleServer;
  readonly pages: Subscriber[];
  readonly asked: Question[];
  /** Resolves when a page is not sent anything any more. */
  readonly left: Promise<void>;
}

const started = async (ask?: (question: Question, signal: AbortSignal) => Promise<Answer>): Promise<World> => {
  const pages: Subscriber[] = [];
  const asked: Question[] = [];
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  server = await startConsoleServer({
    ...{ port: 0, token: TOKEN, assets: new Map(Object.entries(ASSETS)) },
    live: {
      subscribe: (page) => {
        pages.push(page);
        page.send('pulse', { now: 1, sources: [] });
        return () => {
          pages.splice(pages.indexOf(page), 1);
          leave();
        };
      },
    },
    ask: (question, signal) => {
      asked.push(question);
      return ask?.(question, signal) ?? Promise.resolve({ exitStatus: 0, node: 'n1', text: 'found' });
    },
  });
  return { server, pages, asked, left };
};

interface Sent {
  readonly method?: string;
  readonly host?: string;
  readonly address?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Not by fetch, which sends the headers that it likes. */
const open = async (port: number, path: string, sent: Sent = {}): Promise<IncomingMessage> => {
  const { method = 'GET', address = '127.0.0.1', host = `127.0.0.1:${port}`, headers = {}, body } = sent;
  const asked = request({ host: address, port, path, method, agent: false, headers: { host, ...headers } });
  asked.end(body);
  const [response] = await once(asked, 'response');
  return response;
};

const textOf = async (response: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return text;
};

const statusOf = async (port: number, path: string, sent?: Sent): Promise<number | undefined> => {
  const response = await open(port, path, sent);
  response.resume();
  return response.statusCode;
};

const ask = (body: string, headers: Readonly<Record<string, string>> = JSON_TYPE): Sent => ({
  ...{ method: 'POST', body },
  headers: { ...BEARER, ...headers },
});
const PROBLEMS = JSON.stringify({ kind: 'problems', node: 'n1' });

describe('the page', () => {
  it('is served with a policy that loads nothing else, and may not be embedded', async () => {
    const { server: console } = await started();
    for (const [path, type] of [
      ['/', 'text/html'],
      ['/page.css', 'text/css'],
      ['/page.js', 'text/javascript'],
    ] as const) {
      const response = await open(console.port, path);
      expect(response.statusCode).toBe(200);
      expect(response.headers['content-type']).toContain(type);
      const { headers } = response;
      expect(headers['content-security-policy']).toMatch(/^default-src 'self'; .*frame-ancestors 'none'/);
      expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:|\*/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['cache-control']).toBe('no-store');
      expect(headers).not.toHaveProperty('access-control-allow-origin');
      expect(headers).not.toHaveProperty('set-cookie');
      response.resume();
    }
  });

  it('refers to nothing outside, and has no script or style of its own within', () => {
    const html = ASSETS['/'].text;
    expect(html).not.toMatch(/https?:|\sstyle=|\son[a-z]+=|<style|javascript:/i);
    expect([...html.matchAll(/<script[^>]*>([^<]*)/g)].map(([, inner]) => inner)).toEqual(['']);
    expect(ASSETS['/page.js'].text).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|https?:/,
    );
    expect(ASSETS['/page.css'].text).not.toMatch(/url\(|@import/);
  });
});

describe('the server', () => {
  it('listens on loopback addresses alone', async () => {
    const { server: console } = await started();
    expect(await statusOf(console.port, '/')).toBe(200);
    const others = Object.values((await import('node:os')).networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4');
    for (const { address } of others) await expect(open(console.port, '/', { address })).rejects.toThrow();
  });

  it('gives nothing of the cluster to who has no token, another name or another page', async () => {
    const { server: console, pages, asked } = await started();
    const { port } = console;
    expect(await statusOf(port, '/api/stream')).toBe(401);
    expect(await statusOf(port, `/api/stream?token=${TOKEN}`)).toBe(401);
    expect(await statusOf(port, '/api/stream', { host: `evil.example:${port}`, headers: BEARER })).toBe(421);
    expect(await statusOf(port, '/', { host: `evil.example:${port}` })).toBe(421);
    const origin = { ...BEARER, origin: 'http://evil.example' };
    expect(await statusOf(port, '/api/stream', { headers: origin })).toBe(403);
    expect(await statusOf(port, '/api/ask', { ...ask(PROBLEMS, { ...JSON_TYPE, ...origin }) })).toBe(403);
    expect(await statusOf(port, '/api/ask', { method: 'POST', headers: JSON_TYPE, body: PROBLEMS })).toBe(401);
    expect([pages, asked]).toEqual([[], []]);
  });

  it('answers no preflight, so that no other origin sends the token', async () => {
    const { server: console } = await started();
    const headers = { origin: 'http://evil.example', 'access-control-request-method': 'GET' };
    const response = await open(console.port, '/api/stream', { method: 'OPTIONS', headers });
    response.resume();
    expect(response.statusCode).toBe(403);
    expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('has nothing else', async () => {
    const { server: console } = await started();
    expect(await statusOf(console.port, '/../../etc/passwd', { headers: BEARER })).toBe(404);
    expect(await statusOf(console.port, '/constructor', { headers: BEARER })).toBe(404);
  });

  it('streams events, for the network that the page names, and stops when the page is closed', async () => {
    const { server: console, pages, left } = await started();
    const response = await open(console.port, '/api/stream?network=red_net', { headers: BEARER });
    expect(response.headers['content-type']).toBe('text/event-stream');
    const [chunk] = await once(response, 'data');
    expect(String(chunk)).toBe('event: pulse\ndata: {"now":1,"sources":[]}\n\n');
    const [page] = pages;
    expect(page?.network).toBe('red_net');
    page?.send('detail', null);
    const [next] = await once(response, 'data');
    expect(String(next)).toBe('event: detail\ndata: null\n\n');
    response.destroy();
    await left;
    expect(pages).toEqual([]);
  });

  it('has so many streams, and not more', async () => {
    const { server: console } = await started();
    const streams = await Promise.all(
      Array.from({ length: 16 }, () => open(console.port, '/api/stream', { headers: BEARER })),
    );
    expect(streams.map(({ statusCode }) => statusCode)).toEqual(Array(16).fill(200));
    expect(await statusOf(console.port, '/api/stream', { headers: BEARER })).toBe(429);
    for (const one of streams) one.destroy();
  });
});

describe('a question to a node', () => {
  it('is answered', async () => {
    const { server: console, asked } = await started();
    const response = await open(console.port, '/api/ask', ask(PROBLEMS));
    expect(JSON.parse(await textOf(response))).toEqual({ exitStatus: 0, node: 'n1', text: 'found' });
    expect(asked).toEqual([{ kind: 'problems', node: 'n1' }]);
  });

  it.each([
    ['not JSON', ask('{'), 400],
    ['not a question', ask('{"kind":"doctor","node":"n1"}'), 400],
    ['of a form, which other pages may send', ask(PROBLEMS, { 'content-type': 'text/plain' }), 415],
    ['too long', ask(JSON.stringify({ kind: 'problems', node: 'n'.repeat(5_000) })), 413],
  ])('%s is refused', async (_, sent, status) => {
    const { server: console, asked } = await started();
    expect(await statusOf(console.port, '/api/ask', sent)).toBe(status);
    expect(asked).toEqual([]);
  });

  it('ends when the page is closed; two are answered at once', async () => {
    const begun = new EventEmitter();
    const { server: console } = await started((_, signal) => {
      begun.emit('question', signal);
      return new Promise((_resolve, reject) => onAbort(signal, () => reject(signal.reason)));
    });
    const { port } = console;
    const hanging = () => {
      const headers = { ...BEARER, ...JSON_TYPE };
      const asked = request({ host: '127.0.0.1', port, path: '/api/ask', method: 'POST', headers });
      asked.on('error', () => {});
      const signal = once(begun, 'question').then(([one]) => one as AbortSignal);
      asked.end(PROBLEMS);
      return { asked, signal };
    };
    const first = hanging();
    const signals = [await first.signal];
    const second = hanging();
    signals.push(await second.signal);
    expect(await statusOf(port, '/api/ask', ask(PROBLEMS))).toBe(429);
    for (const { asked } of [first, second]) asked.destroy();
    await Promise.all(signals.map(untilAborted));
    expect(signals.map(({ reason }) => messageOf(reason))).toEqual(Array(2).fill('the page was closed'));
  });

  it('whose answer fails says so', async () => {
    const { server: console } = await started(() => Promise.reject(new Error('no idea')));
    const response = await open(console.port, '/api/ask', ask(PROBLEMS));
    expect([response.statusCode, await textOf(response)]).toEqual([500, 'no idea\n']);
  });
});
