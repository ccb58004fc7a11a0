/** A server for whoever reaches the node: nobody is to keep connections, or the memory of them, from others by asking slowly. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';

const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  keepAliveTimeout: 5_000,
  // The same for what comes before with TLS.
  handshakeTimeout: 5_000,
  // How often the ones above are looked at.
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 32_768,
};
const MAX_CONNECTIONS = 256;

/**
 * When all connections are in use, the one that has waited for longest without a question goes, and not the new one: else who opens them
 * all would keep the kubelet out, which then ends the program.
 * @param tls its certificate; absent: without TLS
 */
export const createPublicServer = (
  listener: RequestListener,
  most = MAX_CONNECTIONS,
  tls?: { readonly cert: string; readonly key: string },
): Server => {
  // By the peer: with TLS a question comes by another socket than the connection.
  const idle = new Map<string, Socket>();
  let count = 0;
  const onRequest: RequestListener = (request, response) => {
    const { socket } = request;
    const peer = peerOf(socket);
    idle.delete(peer);
    response.once('close', () => {
      if (!socket.destroyed) idle.set(peer, socket);
    });
    listener(request, response);
  };
  // Read only where there is TLS: it is a megabyte.
  const server =
    tls === undefined
      ? createServer(LIMITS, onRequest)
      : process.getBuiltinModule('node:https').createServer({ ...LIMITS, ...tls }, onRequest);
  return server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    count += 1;
    idle.set(peer, socket);
    socket.once('close', () => {
      count -= 1;
      idle.delete(peer);
    });
    if (count <= most) return;
    const [[longest, waiting] = [peer, socket]] = idle;
    idle.delete(longest);
    waiting.destroy();
  });
};

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
