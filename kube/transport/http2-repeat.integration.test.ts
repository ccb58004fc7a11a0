/** Requests that a server did not process, or of which nobody knows: what is sent again, and what is not. */
import type { ServerHttp2Stream } from 'node:http2';
import { describe, expect, it, vi } from 'vitest';
import { get, text, useHarness, watch } from './testing/harness.ts';

const { cut, serveHttp2, transportTo } = useHarness('HTTP/2');

/** @param refuse what to do with a request in place of an answer: true when it has been done */
const start = async (refuse: (stream: ServerHttp2Stream, path: string, count: number) => boolean) => {
  const { url, server, sessions } = await serveHttp2();
  const seen: string[] = [];
  server.on('stream', (stream, { ':method': method = '', ':path': path = '' }) => {
    seen.push(`${method} ${path}`);
    if (refuse(stream, path, seen.length) || stream.destroyed) return;
    stream.respond({ ':status': 200 });
    if (path === '/watch') stream.write('first');
    else stream.end('ok');
  });
  const transport = transportTo(url);
  const send = async (method: string, path = '/') =>
    text(await transport.send({ method, path, headers: {}, ...(method !== 'GET' && { body: 'x' }) }));
  return { sessions, seen, transport, send };
};

const lost = { code: 'ERR_KUBE_NETWORK' };
const REFUSED_STREAM = 7;
const INTERNAL_ERROR = 2;

describe('a stream that was refused', () => {
  it('is sent once more, whatever its method is', async () => {
    const { seen, send, sessions } = await start((stream, _, count) => {
      if (count === 1) stream.close(REFUSED_STREAM);
      return count === 1;
    });
    expect(await send('POST')).toBe('ok');
    expect(seen).toEqual(['POST /', 'POST /']);
    expect(sessions).toHaveLength(1);
  });

  it('is an error the next time', async () => {
    const { seen, send } = await start((stream) => {
      stream.close(REFUSED_STREAM);
      return true;
    });
    await expect(send('POST')).rejects.toMatchObject(lost);
    expect(seen).toHaveLength(2);
  });

  it('is not one that failed, which is not sent again', async () => {
    const { seen, send } = await start((stream, path) => {
      if (path === '/fail') stream.close(INTERNAL_ERROR);
      return path === '/fail';
    });
    await send('GET');
    await expect(send('GET', '/fail')).rejects.toMatchObject(lost);
    expect(seen).toEqual(['GET /', 'GET /fail']);
  });
});

describe('a server that goes away', () => {
  it('gets no new requests by its old connection, on which others end by themselves', async () => {
    const { sessions, transport, send } = await start(() => false);
    const response = await watch(transport, '/watch');
    const [session] = sessions;
    const streams: ServerHttp2Stream[] = [];
    session?.on('stream', (stream) => streams.push(stream));
    const next = watch(transport, '/watch');
    await next;
    session?.goaway(0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await send('POST')).toBe('ok');
    expect(sessions).toHaveLength(2);
    streams[0]?.end(', last');
    expect(await text(await next)).toBe('first, last');
    await response.body[Symbol.asyncIterator]().return?.();
    await expect.poll(() => session?.destroyed).toBe(true);
  });

  it.each([
    ['in order', 0],
    ['with an error', 11],
  ])('%s gets again what it has not processed', async (_, code) => {
    const { seen, sessions, send } = await start((stream, path, count) => {
      if (path !== '/late' || count > 2) return false;
      // The first request is the last that counts.
      stream.session?.goaway(code, 1);
      return true;
    });
    await send('GET');
    expect(await send('POST', '/late')).toBe('ok');
    expect(seen).toEqual(['GET /', 'POST /late', 'POST /late']);
    expect(sessions).toHaveLength(2);
  });

  it('with an error does not get again what it may have processed', async () => {
    const { seen, send } = await start((stream, path) => {
      if (path !== '/late') return false;
      stream.session?.goaway(11, 3);
      return true;
    });
    await send('GET');
    await expect(send('POST', '/late')).rejects.toMatchObject(lost);
    expect(seen).toEqual(['GET /', 'POST /late']);
  });
});

describe('a connection that is lost', () => {
  const losing = () =>
    start((_, path, count) => {
      if (path !== '/lose' || count > 2) return false;
      cut();
      return true;
    });

  it('is replaced for requests that may be sent twice', async () => {
    const { seen, send } = await losing();
    await send('GET');
    expect(await send('PUT', '/lose')).toBe('ok');
    expect(seen).toEqual(['GET /', 'PUT /lose', 'PUT /lose']);
  });

  it('is an error for requests that may not', async () => {
    const { seen, send } = await losing();
    await send('GET');
    await expect(send('POST', '/lose')).rejects.toMatchObject(lost);
    expect(seen).toEqual(['GET /', 'POST /lose']);
  });

  it('is an error for the first request that it carries', async () => {
    const { seen, send } = await losing();
    await expect(send('GET', '/lose')).rejects.toMatchObject(lost);
    expect(seen).toEqual(['GET /lose']);
  });

  it('while nobody used it is replaced without a word', async () => {
    const { sessions, send, transport } = await start(() => false);
    await send('GET');
    cut();
    await vi.waitUntil(() => sessions[0]?.destroyed);
    // The client has the news, too.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await send('POST')).toBe('ok');
    expect(await text(await get(transport))).toBe('ok');
    expect(sessions).toHaveLength(2);
  });
});
