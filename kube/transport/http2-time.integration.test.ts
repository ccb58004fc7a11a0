/** Connections that are silent or idle. */
import { execFile } from 'node:child_process';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { Exchange } from './exchange.ts';
import { createHttp1Wire } from './http1-wire.ts';
import { createHttp2Wire } from './http2-wire.ts';
import { targetOf } from './target.ts';
import { get, text, useHarness, watch } from './testing/harness.ts';

const { pathOf, cleanups, listen, serveHttp2, connectionTo, transportWith } = useHarness('HTTP/2');

/** A server whose network can stand still, and what pings it got. */
const serve = async () => {
  const { url, server, sessions } = await serveHttp2();
  const pings: number[] = [];
  server.on('session', (session) => {
    session.on('ping', () => pings.push(1));
  });
  server.on('stream', (stream, { ':path': path }) => {
    stream.respond({ ':status': 200 });
    if (path === '/watch') stream.write('first');
    else stream.end('ok');
  });
  const sockets: Socket[] = [];
  const relay = createTcpServer((near) => {
    const far = connect(Number(new URL(url).port), '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.pipe(far).pipe(near);
    sockets.push(near, far);
    cleanups.push(
      () => void near.destroy(),
      () => void far.destroy(),
    );
  });
  const standStill = (): void => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return { url: `https://127.0.0.1:${await listen(relay)}`, sessions, pings, standStill };
};

/** Time, as much as the network needs with it. */
const pass = async (clock: ReturnType<typeof createFakeClock>, seconds: number): Promise<void> => {
  for (let i = 0; i < seconds; i += 15) {
    await clock.advance(15_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

describe('a connection that is silent', () => {
  it('stays as long as the server answers', async () => {
    const { url, sessions, pings } = await serve();
    const clock = createFakeClock();
    const response = await watch(transportWith({ connection: connectionTo(url), clock }), '/watch');
    const chunks = response.body[Symbol.asyncIterator]();
    await chunks.next();
    await pass(clock, 300);
    expect(pings.length).toBeGreaterThan(4);
    expect(sessions[0]?.destroyed).toBe(false);
    await chunks.return?.();
  });

  it('is ended when nothing comes, so that watches begin again', async () => {
    const { url, sessions, standStill } = await serve();
    const clock = createFakeClock();
    const transport = transportWith({ connection: connectionTo(url), clock });
    const chunks = (await watch(transport, '/watch')).body[Symbol.asyncIterator]();
    await chunks.next();
    standStill();
    const rest = expect(chunks.next()).rejects.toMatchObject({ code: 'ERR_KUBE_NETWORK' });
    await pass(clock, 60);
    await rest;
    expect((await watch(transport, '/watch')).status).toBe(200);
    expect(sessions).toHaveLength(2);
  });

  it('is found out, too, when the server has said that it goes away', async () => {
    const { url, sessions, standStill } = await serve();
    const clock = createFakeClock();
    const transport = transportWith({ connection: connectionTo(url), clock });
    const chunks = (await watch(transport, '/watch')).body[Symbol.asyncIterator]();
    await chunks.next();
    sessions[0]?.goaway(0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const rest = chunks.next();
    const outcome = rest.catch((error: unknown) => error);
    await pass(clock, 300);
    expect(sessions[0]?.destroyed).toBe(false);
    standStill();
    await pass(clock, 60);
    expect(await outcome).toMatchObject({ code: 'ERR_KUBE_NETWORK' });
  });
});

describe('a connection that is idle', () => {
  it('has no timers of the clock', async () => {
    const { url } = await serve();
    const clock = createFakeClock();
    const transport = transportWith({ connection: connectionTo(url), clock });
    const response = await watch(transport, '/watch');
    expect(clock.pending).toBe(1);
    await response.body[Symbol.asyncIterator]().return?.();
    await text(await get(transport));
    await expect.poll(() => clock.pending).toBe(0);
  });

  it('is closed after a while, and not before', async () => {
    const { url, sessions } = await serve();
    const target = targetOf(url);
    const connection = connectionTo(url);
    const tls = await connection.credentials.tls();
    const http1 = createHttp1Wire(target, connection);
    const wire = createHttp2Wire({ target, http1, clock: createFakeClock(), idleMs: 300 });
    cleanups.push(() => wire.close());
    const begin = (path: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<Parameters<Exchange['respond']>>();
      const request = { method: 'GET', path, headers: {}, streaming: true };
      const respond: Exchange['respond'] = (...response) => resolve(response);
      wire.start({ request, headers: {}, tls, mayBegin: () => true, respond, fail: reject });
      return promise;
    };
    const [, incoming] = await begin('/watch');
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(sessions[0]?.destroyed).toBe(false);
    incoming.leave();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(sessions[0]?.destroyed).toBe(false);
    await vi.waitUntil(() => sessions[0]?.destroyed, { timeout: 5_000 });
  });

  it('does not keep the program', async () => {
    const { url } = await serve();
    const { href } = new URL('http-transport.ts', import.meta.url);
    const program = `
      const { createHttpTransport } = await import(${JSON.stringify(href)});
      const { readFileSync } = await import('node:fs');
      const tls = { ca: readFileSync(${JSON.stringify(pathOf('self.crt'))}, 'utf8') };
      const credentials = { headers: async () => ({}), tls: async () => tls, refresh: () => false };
      const transport = createHttpTransport({ connection: { server: '${url}', namespace: 'default', credentials } });
      const { status, body } = await transport.send({ method: 'GET', path: '/', headers: {} });
      for await (const _ of body);
      console.log(status);`;
    const begin = performance.now();
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout).toBe('200\n');
    expect(performance.now() - begin).toBeLessThan(20_000);
  });
});
