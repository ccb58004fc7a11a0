/** Connections to a server, whose first bytes agree on the protocol (ALPN, RFC 7301). */
import type { ClientHttp2Session } from 'node:http2';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import type { TlsMaterial } from '../config/types.ts';
import type { Target } from './target.ts';
import { withoutUndefined } from './tls-options.ts';

/** It bounds how long requests follow one attempt, whose packets may have got lost, before there is another. */
const DIAL_MS = 30_000;

/** After how long without bytes TCP begins to ask whether the other side is there. */
const KEEP_ALIVE_MS = 30_000;

/**
 * How much may come of one stream that nobody reads: with it, what one that stands still costs. Node lets the session's window go on
 * for bytes that wait in a stream, so that no stream holds up others; it is about what is under way between the machines.
 */
const STREAM_WINDOW = 1024 * 1024;
const SESSION_WINDOW = 16 * STREAM_WINDOW;

/** In MB, what a session may hold of what it has to send, after which Node refuses streams. */
const MAX_SESSION_MEMORY = 256;

export interface Dialled {
  readonly session: ClientHttp2Session;
  readonly socket: TLSSocket;
}

export interface DialHandlers {
  /** With a session whose limits are known, or without one, when the server does not speak HTTP/2. */
  done(dialled: Dialled | undefined): void;
  fail(cause: unknown): void;
}

export interface Dial {
  /** Once there is a connection to shake hands on. */
  localAddress(): string | undefined;
  /** Ends the attempt, as a failure. */
  drop(reason: Error): void;
  /** Ends it without a word to the handlers. */
  stop(): void;
}

export const dial = (target: Target, tls: TlsMaterial, clock: Clock, { done, fail }: DialHandlers): Dial => {
  let isOver = false;
  const stopTimer = clock.schedule(DIAL_MS, () => failed(new Error(`no connection within ${DIAL_MS} ms`)));
  const over = (): boolean => {
    const before = isOver;
    isOver = true;
    stopTimer();
    return before;
  };
  const failed = (cause: unknown): void => {
    if (over()) return;
    socket.destroy();
    fail(cause);
  };
  const succeeded = (dialled: Dialled | undefined): void => {
    if (!over()) done(dialled);
  };
  const socket = connectTls(target, tls);
  socket.on('error', failed);
  socket.once('close', () => failed(new Error('the connection was closed')));
  socket.once('secureConnect', () => {
    if (isOver) return;
    if (socket.alpnProtocol !== 'h2') {
      succeeded(undefined);
      // Not at once: servers log handshakes that are broken off.
      socket.destroySoon();
      return;
    }
    const session = speakHttp2(target, socket);
    session.on('error', failed);
    session.once('remoteSettings', () => succeeded({ session, socket }));
  });
  return {
    localAddress: () => socket.localAddress,
    drop: failed,
    stop: () => {
      if (!over()) socket.destroy();
    },
  };
};

/** Only here: TLS and HTTP/2 take memory that sidecars and tests on plain HTTP need not have. */
const connectTls = ({ options: { host, port } }: Target, tls: TlsMaterial): TLSSocket => {
  const name = String(host);
  const socket = process.getBuiltinModule('node:tls').connect({
    host: name,
    port: Number(port),
    ALPNProtocols: ['h2', 'http/1.1'],
    // No name but an address is none for TLS (RFC 6066 §3).
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...withoutUndefined(tls),
  });
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
};

const speakHttp2 = ({ authority }: Target, socket: TLSSocket): ClientHttp2Session => {
  const session = process.getBuiltinModule('node:http2').connect(`https://${authority}`, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
    maxSessionMemory: MAX_SESSION_MEMORY,
  });
  session.setLocalWindowSize(SESSION_WINDOW);
  return session;
};
