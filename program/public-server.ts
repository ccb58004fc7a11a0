/** A server for whoever reaches the node: nobody is to keep connections, or the memory of them, from others by asking slowly. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';

const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  keepAliveTimeout: 5_000,
  // How often the ones above are looked at.
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 32_768,
};
const MAX_CONNECTIONS = 256;

/**
 * When all connections are in use, the one that has waited for longest without a question goes, and not the new one: else who opens them
 * all would keep the kubelet out, which then ends the program.
 */
export const createPublicServer = (listener: RequestListener, most = MAX_CONNECTIONS): Server => {
  const idle = new Set<Socket>();
  let count = 0;
  return createServer(LIMITS, (request, response) => {
    const { socket } = request;
    idle.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) idle.add(socket);
    });
    listener(request, response);
  }).on('connection', (socket: Socket) => {
    count += 1;
    idle.add(socket);
    socket.once('close', () => {
      count -= 1;
      idle.delete(socket);
    });
    if (count <= most) return;
    const [longest = socket] = idle;
    idle.delete(longest);
    longest.destroy();
  });
};
