/** One connection for all: what requests and watches have of it, and what they do to each other. */

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ServerHttp2Stream } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { get, text, useHarness, watch } from './testing/harness.ts';

const { pathOf, cut, cleanups, listen, serveHttp2, transportTo, transportWith, connectionTo } = useHarness('HTTP/2');

const MIB = 1024 * 1024;

/** Answers each request with its path, watches with a first chunk. Those wait in `held`. */
const serve = async (settings = {}) => {
  const { url, server, sessions } = await serveHttp2({ settings });
  const held: ServerHttp2Stream[] = [];
  server.on('stream', (stream, { ':path': path = '' }) => {
    stream.respond({ ':status': 200 });
    if (!path.startsWith('/watch')) return stream.end(path);
    stream.write('first');
    return held.push(stream);
  });
  return { url, server, sessions, held };
};

describe('connections', () => {
  it('are one for watches and requests', async () => {
    const { url, sessions, held } = await serve();
    const transport = transportTo(url);
    const watches = await Promise.all(Array.from({ length: 40 }, () => watch(transport, '/watch')));
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => get(transport, `/${index}`).then(text)));
    expect(answers).toEqual(answers.map((_, index) => `/${index}`));
    for (const stream of held) stream.end(', last');
    expect(await Promise.all(watches.map(text))).toEqual(watches.map(() => 'first, last'));
    expect(sessions).toHaveLength(1);
  });

  it('are more only where the server takes no more by one', async () => {
    const { url, sessions, held } = await serve({ maxConcurrentStreams: 10 });
    const transport = transportTo(url);
    const watches = await Promise.all(Array.from({ length: 10 }, () => watch(transport, '/watch')));
    expect(sessions).toHaveLength(1);
    await Promise.all(Array.from({ length: 5 }, () => watch(transport, '/watch')));
    expect(sessions).toHaveLength(2);
    for (const stream of held.slice(0, 10)) stream.end();
    await Promise.all(watches.map(text));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await watch(transport, '/watch');
    expect(held.at(-1)?.session === sessions[0]).toBe(true);
  });

  it('speak HTTP/1.1 with a server that speaks nothing else, which is asked once', async () => {
    const [cert, key] = await Promise.all(['self.crt', 'self.key'].map((name) => readFile(pathOf(name))));
    const server = createTlsServer({ cert, key }, (incoming, outgoing) => outgoing.end(incoming.httpVersion));
    cleanups.push(() => server.closeAllConnections());
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    const transport = transportTo(`https://127.0.0.1:${await listen(server)}`);
    for (let i = 0; i < 3; i += 1) expect(await text(await get(transport))).toBe('1.1');
    expect(connections).toBe(2);
  });

  it('that do not come about are given up in time', async () => {
    const silent = createTcpServer((socket) => {
      socket.resume().on('error', () => undefined);
      cleanups.push(() => void socket.destroy());
    });
    const server = `https://127.0.0.1:${await listen(silent)}`;
    await expect(get(transportTo(server, {}, 50))).rejects.toMatchObject({ code: 'ERR_KUBE_TIMEOUT' });
    const abort = new AbortController();
    const request = get(transportTo(server), '/', abort.signal);
    setTimeout(() => abort.abort(new Error('enough')), 20);
    await expect(request).rejects.toThrow('enough');
    // Nobody waits any more, so that the attempts end, too.
    await expect.poll(() => new Promise((resolve) => silent.getConnections((_, count) => resolve(count)))).toBe(0);
  });

  it('that shake hands from an address that is gone are given up', async () => {
    const silent = createTcpServer((socket) => {
      socket.resume().on('error', () => undefined);
      cleanups.push(() => void socket.destroy());
    });
    let lose: (address: string) => void = () => undefined;
    const lostAddresses = (listener: typeof lose): void => {
      lose = listener;
    };
    const connection = connectionTo(`https://127.0.0.1:${await listen(silent)}`);
    const request = expect(get(transportWith({ connection, lostAddresses }))).rejects.toThrow('has lost 127.0.0.1');
    await once(silent, 'connection');
    lose('192.0.2.1');
    lose('127.0.0.1');
    await request;
  });

  it('are closed with the client, for which nothing is sent again', async () => {
    const { url, server, sessions } = await serveHttp2();
    let pending = 0;
    server.on('stream', (stream, { ':path': path }) => {
      if (path === '/hang') pending += 1;
      else stream.end(path);
    });
    const transport = transportTo(url);
    await text(await get(transport, '/used'));
    const hanging = expect(get(transport, '/hang')).rejects.toMatchObject({ code: 'ERR_KUBE_NETWORK' });
    await vi.waitUntil(() => pending === 1);
    transport.close();
    await hanging;
    await expect.poll(() => sessions[0]?.destroyed).toBe(true);
    expect(sessions).toHaveLength(1);
    expect(pending).toBe(1);
  });

  it('carry 32 requests at once, and watches beside', async () => {
    const { url, server } = await serveHttp2();
    const held: ServerHttp2Stream[] = [];
    server.on('stream', (stream, { ':path': path }) => {
      if (path !== '/watch') return held.push(stream);
      return stream.write('first');
    });
    const transport = transportTo(url);
    const requests = Array.from({ length: 40 }, () => get(transport).then(text));
    await vi.waitUntil(() => held.length === 32);
    await watch(transport, '/watch');
    expect(held).toHaveLength(32);
    for (const stream of held) stream.end('ok');
    await vi.waitUntil(() => held.length === 40);
    for (const stream of held.slice(32)) stream.end('ok');
    expect(new Set(await Promise.all(requests))).toEqual(new Set(['ok']));
  });

  it('are others for other certificates, while the old one ends with its requests', async () => {
    const { url, sessions, held } = await serve();
    const { credentials } = connectionTo(url);
    let tls = await credentials.tls();
    const rotating = { ...credentials, tls: () => Promise.resolve(tls) };
    const transport = transportWith({ connection: { ...connectionTo(url), credentials: rotating } });
    const old = await watch(transport, '/watch');
    tls = { ...tls };
    await text(await get(transport));
    await text(await get(transport));
    expect(sessions).toHaveLength(2);
    expect(sessions.map(({ destroyed }) => destroyed)).toEqual([false, false]);
    held[0]?.end(', last');
    expect(await text(old)).toBe('first, last');
    await expect.poll(() => sessions.map(({ destroyed }) => destroyed)).toEqual([true, false]);
  });

  it('stay when requests follow that were queued before certificates changed', async () => {
    const { url, sessions, held } = await serve();
    const { credentials } = connectionTo(url);
    let tls = await credentials.tls();
    const rotating = { ...credentials, tls: () => Promise.resolve(tls) };
    const transport = transportWith({ connection: { ...connectionTo(url), credentials: rotating } });
    const requests = Array.from({ length: 33 }, () => get(transport, '/watch').then(text));
    await vi.waitUntil(() => held.length === 32);
    tls = { ...tls };
    await watch(transport, '/watch');
    for (const stream of held.slice(0, 32)) stream.end();
    await vi.waitUntil(() => held.length === 34);
    held.at(-1)?.end();
    await Promise.all(requests);
    await watch(transport, '/watch');
    expect(held.at(-1)?.session === sessions[1]).toBe(true);
  });
});

describe('a body that nobody reads', () => {
  it('holds up no other, and no more of it is sent than fits', async () => {
    const { url, server, sessions } = await serveHttp2();
    const sent: number[] = [];
    server.on('stream', (stream, { ':path': path }) => {
      stream.respond({ ':status': 200 });
      if (path === '/small') return stream.end('small');
      const index = sent.push(0) - 1;
      const chunk = Buffer.alloc(64 * 1024);
      const write = (): void => {
        if (stream.destroyed) return;
        stream.write(chunk, () => {
          sent[index] = (sent[index] ?? 0) + chunk.length;
          write();
        });
      };
      return write();
    });
    const transport = transportTo(url);
    await Promise.all(Array.from({ length: 40 }, () => watch(transport, '/large')));
    const total = () => sent.reduce((sum, bytes) => sum + bytes, 0);
    let before = -1;
    await vi.waitUntil(
      () => {
        const isStill = total() === before && before > 0;
        before = total();
        return isStill;
      },
      { timeout: 20_000, interval: 300 },
    );
    expect(await text(await get(transport, '/small'))).toBe('small');
    expect(sessions).toHaveLength(1);
    // The window, and what was written into the server's own buffers.
    expect(Math.max(...sent)).toBeLessThan(1.5 * MIB);
  });
});

describe('a request', () => {
  it('has its headers as HTTP/2 wants them', async () => {
    const { url, server } = await serveHttp2();
    const seen: Record<string, unknown>[] = [];
    server.on('stream', (stream, headers) => {
      seen.push(Object.fromEntries(Object.entries(headers)));
      stream.additionalHeaders({ ':status': 103, link: 'early' });
      stream.respond({ ':status': 201, 'x-many': ['a', 'b'] }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-late': 'late' }));
      stream.end('made');
    });
    const transport = transportTo(`${url}/prefix/`);
    const headers = { accept: 'application/json', connection: 'keep-alive', host: 'other' };
    const response = await transport.send({ method: 'POST', path: '/a?b=c', headers, body: 'ü' });
    expect(response).toMatchObject({ status: 201, headers: { 'x-many': 'a, b' } });
    expect(Object.keys(response.headers).filter((name) => name.startsWith(':') || name === 'link')).toEqual([]);
    expect(await text(response)).toBe('made');
    expect(seen).toEqual([
      {
        ':method': 'POST',
        ':scheme': 'https',
        ':authority': new URL(url).host,
        ':path': '/prefix/a?b=c',
        accept: 'application/json',
        'content-length': '2',
      },
    ]);
  });

  it('that is aborted is cancelled, and the connection stays', async () => {
    const { url, sessions, held } = await serve();
    const transport = transportTo(url);
    const abort = new AbortController();
    const response = await watch(transport, '/watch', abort.signal);
    abort.abort(new Error('enough'));
    await expect(text(response)).rejects.toThrow('enough');
    const left = await watch(transport, '/watch');
    await left.body[Symbol.asyncIterator]().return?.();
    await expect.poll(() => held.map(({ rstCode }) => rstCode)).toEqual([8, 8]);
    await text(await get(transport));
    expect(sessions).toHaveLength(1);
    expect(sessions[0]?.destroyed).toBe(false);
  });

  it('may be large, as many others are at the same time', async () => {
    const { url, server } = await serveHttp2();
    server.on('request', (incoming, outgoing) => {
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      incoming.on('end', () => outgoing.end(String(bytes)));
    });
    const transport = transportTo(url);
    const put = { method: 'PUT', path: '/', headers: {}, body: 'x'.repeat(1.5 * MIB) };
    const answers = await Promise.all(Array.from({ length: 40 }, () => transport.send(put).then(text)));
    expect(new Set(answers)).toEqual(new Set([String(1.5 * MIB)]));
  });

  it('whose body is cut off is an error, also when that has been received', async () => {
    const { url, held } = await serve();
    const response = await watch(transportTo(url), '/watch');
    await vi.waitUntil(() => held.length === 1);
    cut();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await expect(text(response)).rejects.toMatchObject({ code: 'ERR_KUBE_NETWORK' });
  });
});
