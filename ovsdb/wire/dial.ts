/** Opens the byte stream to a remote. */
import { connect as connectNet, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { onAbort } from '../../base/abort.ts';
import { errorOf } from '../../base/error-message.ts';
import { NotConnectedError } from '../errors.ts';
import { formatRemote, type Remote } from './remote.ts';

/** PEM texts, as ovs-vsctl(8) `set-ssl` takes them by file name. */
export interface TlsCredentials {
  readonly privateKey: string | Buffer;
  readonly certificate: string | Buffer;
  readonly caCertificate: string | Buffer;
  /**
   * Also compare the certificate's names with the host. Off by default: certificates made by ovs-pki(8) carry no address
   * and OVS itself checks only who signed them.
   */
  readonly verifyHost?: boolean;
}

export interface DialOptions {
  /** Asked before each connection, so that renewed certificates are used without a restart. */
  readonly tls?: () => TlsCredentials | Promise<TlsCredentials>;
}

/** Resolves when the connection is ready to be used. */
export type Dial = (remote: Remote, signal: AbortSignal) => Promise<Duplex>;

/** @throws NotConnectedError, from the result */
export const dialer =
  ({ tls }: DialOptions): Dial =>
  async (remote, signal) => {
    if (remote.transport !== 'ssl') return ready(connectNet(address(remote)), 'connect', remote, signal);
    if (tls === undefined) throw new NotConnectedError(`${formatRemote(remote)}: no certificates are configured`);
    const { privateKey: key, certificate: cert, caCertificate: ca, verifyHost = false } = await tls();
    // Loaded only where it is needed: it takes 8 MiB of memory, and most clients use unix sockets.
    const socket = process.getBuiltinModule('node:tls').connect({
      ...address(remote),
      key,
      cert,
      ca,
      ...(!verifyHost && { checkServerIdentity: () => undefined }),
    });
    return ready(socket, 'secureConnect', remote, signal);
  };

const address = (remote: Remote): { path: string } | { host: string; port: number } =>
  remote.transport === 'unix' ? { path: remote.path } : { host: remote.host, port: remote.port };

const ready = (socket: Socket, event: string, remote: Remote, signal: AbortSignal): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const settle = (error: Error | undefined): void => {
      stopListening();
      socket.removeListener('error', settle);
      if (error === undefined) {
        socket.setNoDelay(true);
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(new NotConnectedError(`${formatRemote(remote)}: ${reasonOf(error)}`, { cause: error }));
    };
    socket.once('error', settle);
    // Whoever gets the stream listens a moment later, and finds it destroyed after an error until then.
    socket.on('error', () => {});
    socket.once(event, () => settle(undefined));
    const stopListening = onAbort(signal, () => socket.destroy(errorOf(signal.reason)));
  });

/** An AggregateError of several addresses has no message of its own. */
const reasonOf = (error: Error): string =>
  error.message || (error instanceof AggregateError ? error.errors.map(String).join(', ') : error.name);
