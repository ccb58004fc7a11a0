import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createPublicServer } from './public-server.ts';

const open = async (most: number, answer: (path: string) => Promise<string>) => {
  const server = createPublicServer((request, response) => {
    void answer(request.url ?? '').then((text) => response.end(text));
  }, most);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  return {
    server,
    url: `http://127.0.0.1:${port}/`,
    /** Sends nothing without an argument; resolves when the server has it. */
    silent: async (text = ''): Promise<Socket> => {
      const accepted = new Promise((done) => server.once('connection', done));
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      sockets.push(socket);
      await accepted;
      socket.write(text);
      return socket;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
};

it('gives the place of who says nothing to who comes next', async () => {
  await using it = await open(3, async () => 'answer');
  const first = await it.silent();
  const closed = new Promise((done) => first.once('close', done));
  for (let index = 0; index < 5; index++) await it.silent('GET / HTTP/1.1\r\n');
  await closed;
  expect(await (await fetch(it.url)).text()).toBe('answer');
});

it('ends nothing that is being answered', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  await using it = await open(2, (path) => {
    if (path !== '/slow') return Promise.resolve('at once');
    asked.resolve();
    return promise;
  });
  const slow = fetch(`${it.url}slow`);
  await asked.promise;
  for (let index = 0; index < 4; index++) await it.silent();
  resolve('at last');
  expect(await (await slow).text()).toBe('at last');
});

it('waits some seconds for a question, and not for long ones', { timeout: 20_000 }, async () => {
  await using it = await open(8, async () => 'answer');
  const { headersTimeout, requestTimeout } = it.server;
  expect([headersTimeout, requestTimeout]).toEqual([5_000, 5_000]);
  const long = await it.silent(`GET / HTTP/1.1\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`);
  const answer = await Promise.race([new Promise((done) => long.once('data', done)), wait(5_000, 'nothing')]);
  expect(String(answer)).toMatch(/^HTTP\/1.1 431 /);
});
