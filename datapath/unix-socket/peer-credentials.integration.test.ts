import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { loadPeerCredentials } from './peer-credentials.ts';

const folder = mkdtempSync(join(tmpdir(), 'udn-peercred-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('reports who connected', async () => {
  const path = join(folder, 'socket');
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const server = createServer(resolve).listen(path);
  await new Promise((ready) => server.once('listening', ready));
  const client = connect(path);
  const socket = await promise;
  const read = loadPeerCredentials();
  expect(read(socket)).toEqual({ pid: process.pid, uid: process.getuid?.(), gid: process.getgid?.() });
  socket.destroy();
  client.destroy();
  server.close();
  expect(() => read(socket)).toThrow(/[Bb]ad file descriptor/);
});
