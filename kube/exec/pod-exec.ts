/**
 * Exec over a WebSocket, which every supported API server accepts (KEP-4006). The older transport, SPDY, is deprecated and has
 * no maintained client for Node.
 */
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { abortable } from '../../base/abort.ts';
import { messageOf } from '../../base/error-message.ts';
import { statusError } from '../client/responses.ts';
import type { ClusterConnection } from '../config/types.ts';
import { isUnauthorized, KubeError } from '../errors.ts';
import { createAgents } from '../transport/agents.ts';
import { targetOf } from '../transport/target.ts';
import { EXEC_PROTOCOLS, exitStatusOf, readMessage } from './channels.ts';
import type { ExecCommand, ExecOutput, PodExec } from './types.ts';

export interface PodExecOptions {
  readonly userAgent: string;
  /** To the server's answer; the command itself may take its time. Default 30 000. */
  readonly timeoutMs?: number | undefined;
}

export const createPodExec = (connection: ClusterConnection, options: PodExecOptions): PodExec => {
  const agents = createAgents(targetOf(connection.server), connection);
  const run: PodExec['run'] = async (command, output, signal) => {
    const { credentials } = connection;
    const [headers, tls] = await Promise.all([credentials.headers(), credentials.tls()]);
    signal?.throwIfAborted();
    const { agent } = agents.for(tls, true);
    const socket = new WebSocket(addressOf(connection.server, command), [...EXEC_PROTOCOLS], {
      agent,
      headers: { ...headers, 'user-agent': options.userAgent },
      handshakeTimeout: options.timeoutMs ?? 30_000,
      // What comes is text, and the server is not asked to compress each line of it.
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE,
    });
    return await ended(socket, describe(connection.server, command), output, signal);
  };
  return {
    run: async (command, output, signal) => {
      try {
        return await run(command, output, signal);
      } catch (error) {
        if (!isUnauthorized(error) || !connection.credentials.refresh()) throw error;
        return await run(command, output, signal);
      }
    },
    close: () => agents.close(),
  };
};

/** Kubelets send 32 KiB at most. */
const MAX_MESSAGE = 16 * 2 ** 20;

const pathOf = ({ namespace, pod, container, command }: ExecCommand): string => {
  const query = new URLSearchParams({ container, stdout: 'true', stderr: 'true' });
  for (const word of command) query.append('command', word);
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/exec?${query}`;
};

/** @throws KubeError ERR_KUBE_CONFIG when the server's address is not one: agents know which are */
const addressOf = (server: string, command: ExecCommand): string =>
  server.startsWith('unix:')
    ? `ws+unix:${server.slice('unix:'.length)}:${pathOf(command)}`
    : server.replace(/^http/, 'ws').replace(/\/+$/, '') + pathOf(command);

const describe = (server: string, { namespace, pod }: ExecCommand): string =>
  `exec in pod ${namespace}/${pod} by ${server}`;

const ended = (socket: WebSocket, what: string, output: ExecOutput, signal: AbortSignal | undefined): Promise<number> =>
  abortable(signal, (resolve, reject) => {
    let last = '';
    const lost = (cause: unknown): void =>
      reject(new KubeError('ERR_KUBE_NETWORK', `${what}: ${messageOf(cause)}`, { cause }));
    socket.on('upgrade', (response: IncomingMessage) => response.socket.setKeepAlive(true, KEEP_ALIVE_MS));
    socket.on('message', (data: Buffer) => {
      const message = readMessage(data);
      if (message === undefined) return;
      if (message.channel === 'error') last += Buffer.from(message.content).toString();
      else output[message.channel](message.content);
    });
    socket.on('unexpected-response', (_, response: IncomingMessage) => {
      refusalOf(response, what).then(reject, lost);
    });
    socket.on('error', lost);
    socket.on('close', (code) => {
      // Without a Status the command may still run, or have failed.
      if (last === '') return lost(`the connection was closed (${code}) before the command ended`);
      try {
        resolve(exitStatusOf(last, what));
      } catch (error) {
        reject(error);
      }
    });
    return () => socket.terminate();
  });

/** After how long without bytes TCP begins to ask whether the other side is there: a command may be silent for long. */
const KEEP_ALIVE_MS = 30_000;

/** The server's own error: it answered as to any other request. */
const refusalOf = async (response: IncomingMessage, what: string): Promise<KubeError> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const { statusCode: status = 0 } = response;
  return statusError({ status, headers: {}, body: response }, Buffer.concat(chunks).toString(), what);
};
