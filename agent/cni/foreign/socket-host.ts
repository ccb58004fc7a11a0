/** Runs plugins by the shim at the other end of a connection. */
import type { Socket } from 'node:net';
import { CniError } from '../../../api/cni/error.ts';
import { formatRun, OutcomeReader } from './frames.ts';
import type { PluginCall, PluginHost, PluginOutcome } from './plugin-host.ts';

export interface SocketHostOptions {
  readonly socket: Socket;
  /** Whether the shim has said that it runs plugins. */
  readonly isAble: boolean;
  /** For one plugin, in milliseconds. */
  readonly pluginMs: number;
}

/** The socket's request has been read, and nobody else reads from it. */
export const socketHost = ({ socket, isAble, pluginMs }: SocketHostOptions): PluginHost => ({
  run: async (call) => {
    if (!isAble)
      throw new CniError('tryAgainLater', 'the CNI plugin of this node is older than the agent, and is being replaced');
    return await exchange(socket, call, pluginMs);
  },
});

const exchange = (socket: Socket, call: PluginCall, pluginMs: number): Promise<PluginOutcome> =>
  new Promise((resolve, reject) => {
    const frame = formatRun(call, pluginMs);
    const reader = new OutcomeReader();
    const end = (settle: () => void): void => {
      socket.off('data', onData);
      socket.off('close', onClose);
      settle();
    };
    const onClose = (): void => end(() => reject(new CniError('tryAgainLater', 'the caller closed the connection')));
    const onData = (chunk: Buffer): void => {
      try {
        const outcome = reader.push(chunk);
        if (outcome !== undefined) end(() => resolve(outcome));
      } catch (error) {
        end(() => reject(error));
      }
    };
    if (socket.destroyed) return onClose();
    socket.on('data', onData);
    socket.once('close', onClose);
    socket.write(frame);
  });
