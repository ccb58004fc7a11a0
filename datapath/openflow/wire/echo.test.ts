/** A sign of life from a socket that speaks OpenFlow, and none from one that does not. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { VERSION } from '../ports/message.ts';
import { echo } from './echo.ts';
import { encode, encodeHello, MESSAGE, MessageReader } from './message.ts';

let folder: string;
let server: Server | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'udn-echo-'));
});
afterEach(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const listen = async (answers: boolean): Promise<string> => {
  const path = join(folder, 'br-int.mgmt');
  server = createServer((socket) => {
    const reader = new MessageReader();
    socket.write(encodeHello(VERSION));
    socket.on('data', (piece) => {
      for (const { type, xid, body } of reader.push(piece)) {
        if (answers && type === MESSAGE.echoRequest) socket.write(encode(VERSION, MESSAGE.echoReply, xid, body));
      }
    });
  });
  await new Promise<void>((resolve) => server?.listen(path, resolve));
  return path;
};

it('resolves when the bridge answers', async () => {
  const path = await listen(true);
  await expect(echo({ bridge: 'br-int', path }, AbortSignal.timeout(5_000))).resolves.toBeUndefined();
});

it('ends with the signal when it greets and says nothing more', async () => {
  const path = await listen(false);
  const late = new AbortController();
  const asked = echo({ bridge: 'br-int', path }, late.signal);
  late.abort(new Error('late'));
  await expect(asked).rejects.toThrow('late');
});

it('says that nobody listens', async () => {
  await expect(
    echo({ bridge: 'br-int', path: join(folder, 'none.mgmt') }, AbortSignal.timeout(5_000)),
  ).rejects.toMatchObject({ code: 'ERR_OPENFLOW_UNREACHABLE' });
});
