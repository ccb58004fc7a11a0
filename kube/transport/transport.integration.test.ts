/** What holds of a transport, whichever protocol it speaks. */
import { writeFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { get, PROTOCOLS, text, useHarness } from './testing/harness.ts';

describe.each(PROTOCOLS)('%s', (protocol) => {
  const { pathOf, cut, serve, transportTo, transportWith, connectionTo } = useHarness(protocol);

  describe('a request', () => {
    it('carries method, path, headers and body, and reuses its connection', async () => {
      const ports = new Set<unknown>();
      const server = await serve((incoming, outgoing) => {
        ports.add(incoming.socket.remotePort);
        outgoing.setHeader('x-method', incoming.method ?? '');
        outgoing.setHeader('x-path', incoming.url ?? '');
        outgoing.setHeader('x-agent', incoming.headers['user-agent'] ?? '');
        incoming.pipe(outgoing);
      });
      const transport = transportTo(server);
      for (const body of ['ü', 'second']) {
        const headers = { 'user-agent': 'test' };
        const response = await transport.send({ method: 'PUT', path: '/a?b=c', headers, body });
        expect(response.headers).toMatchObject({ 'x-method': 'PUT', 'x-path': '/a?b=c', 'x-agent': 'test' });
        expect(await text(response)).toBe(body);
      }
      expect(ports.size).toBe(1);
    });

    it('keeps the path of the server', async () => {
      const server = await serve((incoming, outgoing) => outgoing.end(incoming.url));
      expect(await text(await get(transportTo(`${server}/k8s/cluster/`), '/version'))).toBe('/k8s/cluster/version');
    });

    it('is given up in time', async () => {
      const transport = transportTo(await serve(() => {}), {}, 50);
      await expect(get(transport)).rejects.toMatchObject({ code: 'ERR_KUBE_TIMEOUT' });
      const slow = await serve((_, outgoing) => void outgoing.write('begin'));
      const response = await get(transportTo(slow, {}, 500));
      await expect(text(response)).rejects.toMatchObject({ code: 'ERR_KUBE_TIMEOUT' });
    });

    it('can be aborted before, while and after the response has begun', async () => {
      const server = await serve((incoming, outgoing) => {
        if (incoming.url === '/begin') outgoing.write('begin');
      });
      const transport = transportTo(server, {}, 3_600_000);
      const reason = new Error('enough');
      await expect(get(transport, '/', AbortSignal.abort(reason))).rejects.toBe(reason);
      // Before it is sent: the signal fires only once.
      const early = new AbortController();
      const unsent = get(transport, '/', early.signal);
      early.abort(reason);
      await expect(unsent).rejects.toBe(reason);
      const waiting = new AbortController();
      const request = get(transport, '/', waiting.signal);
      setImmediate(() => waiting.abort(reason));
      await expect(request).rejects.toBe(reason);
      const reading = new AbortController();
      const response = await get(transport, '/begin', reading.signal);
      setImmediate(() => reading.abort(reason));
      await expect(text(response)).rejects.toBe(reason);
    });

    it('can be aborted while it is queued for a connection', async () => {
      let seen = 0;
      const full = Promise.withResolvers<void>();
      const server = await serve(() => {
        if (++seen === 32) full.resolve();
      });
      const transport = transportTo(server);
      const end = new AbortController();
      const others = Array.from({ length: 32 }, () =>
        expect(transport.send({ method: 'GET', path: '/', headers: {} }, end.signal)).rejects.toThrow('end'),
      );
      await full.promise;
      const abort = new AbortController();
      const queued = expect(
        Promise.race([
          transport.send({ method: 'GET', path: '/', headers: {} }, abort.signal),
          new Promise((resolve) => setTimeout(resolve, 5_000)),
        ]),
      ).rejects.toThrow('enough');
      abort.abort(new Error('enough'));
      await queued;
      end.abort(new Error('end'));
      await Promise.all(others);
      expect(seen).toBe(32);
    });

    it('of a stream may last', async () => {
      let write = (_: string): void => {};
      let closed = false;
      const server = await serve((incoming, outgoing) => {
        outgoing.flushHeaders();
        write = (chunk) => void outgoing.write(chunk);
        incoming.on('close', () => {
          closed = true;
        });
      });
      const transport = transportTo(server, {}, 500);
      const { body } = await transport.send({ method: 'GET', path: '/', headers: {}, streaming: true });
      const chunks = body[Symbol.asyncIterator]();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      write('late');
      expect(Buffer.from((await chunks.next()).value).toString()).toBe('late');
      await chunks.return?.();
      await expect.poll(() => closed).toBe(true);
    });

    it('left before it is read frees its connection', async () => {
      let closed = false;
      const server = await serve((incoming, outgoing) => {
        outgoing.flushHeaders();
        incoming.on('close', () => {
          closed = true;
        });
      });
      const { body } = await transportTo(server).send({ method: 'GET', path: '/', headers: {}, streaming: true });
      await body[Symbol.asyncIterator]().return?.();
      await expect.poll(() => closed).toBe(true);
    });

    it('has its body also when that is read later than it came', async () => {
      const body = 'x'.repeat(100_000);
      const server = await serve((_, outgoing) => void outgoing.write(body, () => outgoing.end('end')));
      const responses = await Promise.all(Array.from({ length: 10 }, () => get(transportTo(server))));
      await new Promise((resolve) => setTimeout(resolve, 200));
      for (const response of responses) expect(await text(response)).toBe(`${body}end`);
    });

    it('that is cut off is an error', async () => {
      const server = await serve((_, outgoing) => {
        outgoing.write('begin');
        setTimeout(cut, 20);
      });
      const transport = transportTo(server);
      const reading = get(transport).then(text);
      await expect(reading).rejects.toMatchObject({ code: 'ERR_KUBE_NETWORK' });
    });
  });

  describe('credentials', () => {
    it('are read again when the server refuses them', async () => {
      const tokenFile = pathOf('token');
      await writeFile(tokenFile, 'old');
      const seen: unknown[] = [];
      const server = await serve((incoming, outgoing) => {
        seen.push(incoming.headers.authorization);
        outgoing.writeHead(incoming.headers.authorization === 'Bearer new' ? 200 : 401).end();
      });
      const transport = transportTo(server, { tokenFile });
      expect((await get(transport)).status).toBe(401);
      await writeFile(tokenFile, 'new');
      expect((await get(transport)).status).toBe(200);
      expect(seen).toEqual(['Bearer old', 'Bearer old', 'Bearer old', 'Bearer new']);
    });
  });

  it('ends connections from an address that is gone, and makes new ones', async () => {
    const server = await serve((_, response) => void response.write('first'));
    let lose: (address: string) => void = () => undefined;
    const transport = transportWith({
      connection: connectionTo(server),
      lostAddresses: (listener) => {
        lose = listener;
      },
    });
    const watch = async () => {
      const { body } = await transport.send({ method: 'GET', path: '/', headers: {}, streaming: true });
      return body[Symbol.asyncIterator]();
    };
    const chunks = await watch();
    await chunks.next();
    lose('192.0.2.1');
    const other = await watch();
    await other.next();
    const rest = chunks.next();
    lose('127.0.0.1');
    await expect(rest).rejects.toMatchObject({ code: 'ERR_KUBE_NETWORK' });
    await (await watch()).next();
  });

  describe('whoever may not write', () => {
    const start = async () => {
      const seen: string[] = [];
      const held: (() => void)[] = [];
      const server = await serve((incoming, outgoing) => {
        seen.push(`${incoming.method} ${incoming.url}`);
        incoming
          .resume()
          .once('end', () => (incoming.url === '/slow' ? held.push(() => outgoing.end()) : outgoing.end()));
      });
      let may = true;
      const transport = transportWith({
        connection: connectionTo(server),
        mayWrite: () => may,
      });
      const send = async (method: string, path: string) => {
        const response = await transport.send({ method, path, headers: {}, ...(method !== 'GET' && { body: 'body' }) });
        return text(response);
      };
      const stop = (): void => {
        may = false;
      };
      return { seen, held, send, stop };
    };
    const refused = expect.objectContaining({ code: 'ERR_KUBE_NOT_LEADING' });

    it('reads, and sends nothing else, over new connections as over used ones', async () => {
      const { seen, send, stop } = await start();
      await send('POST', '/before');
      stop();
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
        await expect(send(method, '/used')).rejects.toEqual(refused);
      await Promise.all([send('GET', '/a'), expect(send('POST', '/new')).rejects.toEqual(refused)]);
      expect(seen).toEqual(['POST /before', 'GET /a']);
    });

    it('does not send either what waited for a connection since it might', async () => {
      const { seen, held, send, stop } = await start();
      const first = Array.from({ length: 32 }, () => send('POST', '/slow'));
      await vi.waitUntil(() => held.length === 32, { timeout: 10_000 });
      const waiting = [send('POST', '/late'), send('PATCH', '/late')].map((sent) =>
        expect(sent).rejects.toEqual(refused),
      );
      stop();
      for (const release of held) release();
      await Promise.all([...first, ...waiting]);
      expect(new Set(seen)).toEqual(new Set(['POST /slow']));
    });
  });
});
