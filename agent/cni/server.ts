/**
 * Where the shim connects. Only root may talk to it, each connection is bounded in size and time, and what one caller
 * sends never reaches another.
 */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { CniError, formatCniError } from '../../api/cni/error.ts';
import { parseCniRequest } from '../../api/cni/request.ts';
import { LATEST_CNI_VERSION } from '../../api/cni/version.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import type { ReadPeerCredentials } from '../../datapath/unix-socket/peer-credentials.ts';
import { type CallFailure, callFailure } from './call-failure.ts';
import type { PluginHost } from './foreign/plugin-host.ts';
import { socketHost } from './foreign/socket-host.ts';
import type { CniHandler } from './handler.ts';
import { formatResponse, ProtocolError, RequestReader, type ShimRequest } from './protocol.ts';
import { requestedVersion } from './requested-version.ts';

export interface CniServerOptions {
  readonly path: string;
  readonly handler: Pick<CniHandler, 'handle'>;
  readonly peerCredentials: ReadPeerCredentials;
  readonly clock: Clock;
  /** Calls under way at once; more get the answer to retry later. */
  readonly maxCalls: number;
  /** For a caller to send its request, in milliseconds. */
  readonly requestMs: number;
  /** For one plugin of another network to end, in milliseconds. */
  readonly pluginMs: number;
  readonly onRejected: (reason: string) => void;
  /** A call has failed. */
  readonly onFailed: (failure: CallFailure) => void;
}

export interface CniServer {
  /** Stops listening, ends the calls under way, and resolves when they have ended. */
  close(): Promise<void>;
}

/** Listens on a socket that only root can open; takes the place of one that a dead agent left. */
export const serveCni = async (options: CniServerOptions): Promise<CniServer> => {
  mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
  rmSync(options.path, { force: true });
  const calls = new Set<AbortController>();
  const silent = new Set<Socket>();
  const server = createServer((socket) => serveSocket(socket, options, { calls, silent }));
  await listen(server, options.path);
  chmodSync(options.path, 0o600);
  return {
    close: () => {
      for (const call of calls) call.abort(new CniError('tryAgainLater', 'the agent is stopping'));
      for (const socket of silent) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};

/** What is under way. */
interface Open {
  readonly calls: Set<AbortController>;
  /** Connections whose request is not complete. */
  readonly silent: Set<Socket>;
}

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve());
  });

const serveSocket = (socket: Socket, options: CniServerOptions, open: Open): void => {
  // A caller that goes away is no error; what it asked for is ended by 'close'.
  socket.on('error', () => undefined);
  const refused = refusal(socket, options);
  if (refused !== undefined) {
    rejectCall(socket, options, refused);
    return;
  }
  open.silent.add(socket);
  socket.once('close', () => open.silent.delete(socket));
  readRequest(socket, options, (request) => {
    open.silent.delete(socket);
    void answer(socket, request, options, open.calls);
  });
};

/** Why the caller may not call. */
const refusal = (socket: Socket, { peerCredentials }: CniServerOptions): string | undefined => {
  try {
    const { uid } = peerCredentials(socket);
    return uid === 0 ? undefined : `user ${uid} may not call`;
  } catch (error) {
    return `the caller cannot be identified: ${messageOf(error)}`;
  }
};

const rejectCall = (socket: Socket, { onRejected }: CniServerOptions, reason: string): void => {
  onRejected(reason);
  socket.destroy();
};

const readRequest = (socket: Socket, options: CniServerOptions, then: (request: ShimRequest) => void): void => {
  const cancelTimeout = options.clock.schedule(options.requestMs, () =>
    rejectCall(socket, options, 'no complete request in time'),
  );
  socket.once('close', cancelTimeout);
  const reader = new RequestReader();
  socket.on('data', (chunk) => {
    try {
      const request = reader.push(chunk);
      if (request === undefined) return;
      cancelTimeout();
      socket.removeAllListeners('data');
      then(request);
    } catch (error) {
      socket.removeAllListeners('data');
      refuseRequest(socket, options, error);
    }
  });
};

/** Answers what cannot be read. What is still on its way is read and forgotten, or the caller would not read the answer. */
const refuseRequest = (socket: Socket, { onRejected }: CniServerOptions, error: unknown): void => {
  const message = messageOf(error);
  const reason = error instanceof ProtocolError ? error.reason : 'internal';
  onRejected(message);
  socket.resume();
  socket.end(formatResponse(1, formatCniError(new CniError(reason, message), LATEST_CNI_VERSION)));
};

const answer = async (
  socket: Socket,
  request: ShimRequest,
  options: CniServerOptions,
  calls: Set<AbortController>,
): Promise<void> => {
  const call = new AbortController();
  calls.add(call);
  const onClose = (): void => call.abort(new CniError('tryAgainLater', 'the caller closed the connection'));
  socket.once('close', onClose);
  const host = socketHost({ socket, isAble: request.runsPlugins, pluginMs: options.pluginMs });
  const response = await respond(request, options, { callsUnderWay: calls.size, host }, call.signal);
  calls.delete(call);
  socket.off('close', onClose);
  socket.end(response);
};

const respond = async (
  { env, stdin }: ShimRequest,
  { handler, maxCalls, onFailed }: CniServerOptions,
  { callsUnderWay, host }: { readonly callsUnderWay: number; readonly host: PluginHost },
  signal: AbortSignal,
): Promise<Buffer> => {
  try {
    if (callsUnderWay > maxCalls) {
      throw new CniError('busy', `${maxCalls} calls are already in progress`);
    }
    return formatResponse(0, await handler.handle(parseCniRequest(env, stdin), signal, host));
  } catch (error) {
    onFailed(callFailure(env, error));
    return formatResponse(1, formatCniError(error, requestedVersion(stdin) ?? LATEST_CNI_VERSION));
  }
};
