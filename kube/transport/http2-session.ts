/** A connection that carries many requests at once. It ends when it is idle for a while, or silent when it should not be. */
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import type { Clock } from '../../base/clock.ts';
import type { Dialled } from './http2-dial.ts';
import { actionOn, SILENCE_TICK_MS, type Silence, silenceAt } from './http2-silence.ts';
import type { Repeat } from './stale-connection.ts';

export interface Session {
  readonly localAddress: string | undefined;
  /** Whether a request may go out now. */
  hasRoom(): boolean;
  /** @throws when Node does not take the headers */
  open(headers: OutgoingHttpHeaders, body: string | undefined): Opened;
  /** It takes no more requests, and ends with those that it has. */
  retire(): void;
  /** Requests under way fail, and may be sent once more by another connection. */
  drop(reason: Error): void;
  /** Requests under way fail for good. */
  close(reason: Error): void;
}

export interface Opened {
  readonly stream: ClientHttp2Stream;
  /** After its failure: whether the request may be sent once more. */
  repeat(): Repeat | undefined;
}

export interface SessionOptions {
  readonly clock: Clock;
  readonly idleMs: number;
  /** A request has ended, and another may begin. */
  readonly onRoom: () => void;
  readonly onClose: () => void;
}

export const createSession = (
  { session, socket }: Dialled,
  { clock, idleMs, onRoom, onClose }: SessionOptions,
): Session => {
  const { localAddress } = socket;
  let streams = 0;
  let isRetired = false;
  let isOver = false;
  let lastProcessed = Number.POSITIVE_INFINITY;
  session.on('goaway', (_, last = 0) => {
    lastProcessed = Math.min(lastProcessed, last);
  });
  session.once('close', onClose);
  const drop = (reason: Error): void => {
    session.destroy(reason);
    // Node would wait until everything is written, which a dead connection never does.
    socket.destroy();
  };
  const silence = watchSilence(session, () => socket.bytesRead, clock, drop);
  const rest = (): void => {
    silence.stop();
    if (isRetired) session.destroy();
    else if (!session.destroyed) session.setTimeout(idleMs);
    session.unref();
  };
  session.on('timeout', () => streams === 0 && session.destroy());
  rest();
  const wake = (): void => {
    session.setTimeout(0);
    session.ref();
    silence.start();
  };
  const ended = (): void => {
    streams -= 1;
    if (streams === 0) rest();
    onRoom();
  };
  return {
    localAddress,
    hasRoom: () => !isRetired && !session.closed && !session.destroyed && streams < Math.max(1, mostStreams(session)),
    open: (headers, body) => {
      const stream = session.request(headers, { endStream: body === undefined });
      stream.once('close', ended);
      if (streams === 0) wake();
      streams += 1;
      if (body !== undefined) stream.end(body);
      return { stream, repeat: () => (isOver ? undefined : repeatOf(stream, session, lastProcessed)) };
    },
    retire: () => {
      isRetired = true;
      if (streams === 0) session.destroy();
    },
    drop,
    close: (reason) => {
      isOver = true;
      drop(reason);
    },
  };
};

const mostStreams = ({ remoteSettings }: ClientHttp2Session): number =>
  remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY;

/** REFUSED_STREAM (RFC 9113 §7). */
const REFUSED = 7;

/** The first stream of a connection has the number 1: before it nothing was known to work, and its failure may be its own. */
const FIRST = 1;

const repeatOf = (
  { id = 0, rstCode }: ClientHttp2Stream,
  { destroyed }: ClientHttp2Session,
  lastProcessed: number,
): Repeat | undefined => {
  if (rstCode === REFUSED || id > lastProcessed) return 'refused';
  return destroyed && id > FIRST ? 'lost' : undefined;
};

interface SilenceWatch {
  start(): void;
  stop(): void;
}

const watchSilence = (
  session: ClientHttp2Session,
  bytesRead: () => number,
  clock: Clock,
  end: (reason: Error) => void,
): SilenceWatch => {
  let stop = (): void => undefined;
  const listen = (before: Silence): void => {
    stop = clock.schedule(SILENCE_TICK_MS, () => {
      const silence = silenceAt(before, bytesRead());
      const action = actionOn(silence);
      if (action === 'end') return end(new Error('the server does not answer pings'));
      if (action === 'ping') ping(session);
      listen(silence);
    });
  };
  return {
    start: () => listen({ bytes: bytesRead(), ticks: 0 }),
    stop: () => stop(),
  };
};

/** Node sends no pings after a GOAWAY. Settings are answered, too (RFC 9113 §6.5.3). */
const ping = (session: ClientHttp2Session): void => {
  if (session.destroyed) return;
  if (session.closed) session.settings({});
  else session.ping(() => undefined);
};
