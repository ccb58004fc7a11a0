/** What a bridge's socket may do that ovs-vswitchd does not do to order. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BridgeSocket } from '../wire/connection.ts';
import { type Message, MessageReader } from '../wire/message.ts';

export interface SocketBridge extends AsyncDisposable {
  readonly socket: BridgeSocket;
  /** Closes every connection, and accepts no other. */
  close(): Promise<void>;
}

/** Answers each message as the test says. */
export const socketBridge = async (
  answer: (message: Message, socket: Socket) => Uint8Array | undefined,
): Promise<SocketBridge> => {
  const folder = await mkdtemp(join(tmpdir(), 'socket-bridge-'));
  const path = join(folder, 'br-ex.mgmt');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    const reader = new MessageReader();
    socket.on('data', (piece: Buffer) => {
      for (const message of reader.push(piece)) {
        const bytes = answer(message, socket);
        if (bytes !== undefined) socket.write(bytes);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  const end = async (): Promise<void> => {
    await close();
    await rm(folder, { recursive: true });
  };
  return { socket: { bridge: 'br-ex', path }, close, [Symbol.asyncDispose]: end };
};
