/** HTTP/2 with a server that speaks it over TLS (RFC 9113), and HTTP/1.1 with one that does not. */
import type { ClientHttp2Stream } from 'node:http2';
import type { Clock } from '../../base/clock.ts';
import type { Exchange, GiveUp, Wire } from './exchange.ts';
import { flatHeaders } from './flat-headers.ts';
import { http2Headers } from './http2-headers.ts';
import type { Session } from './http2-session.ts';
import { createSessions } from './http2-sessions.ts';
import { createSlots } from './slots.ts';
import type { Target } from './target.ts';

export interface Http2WireOptions {
  readonly target: Target;
  readonly http1: Wire;
  readonly clock: Clock;
  readonly idleMs?: number | undefined;
}

/** Requests at once; more wait. Watches are not counted: they last for minutes. */
const MAX_REQUESTS = 32;

export const createHttp2Wire = ({ target, http1, ...options }: Http2WireOptions): Wire => {
  const sessions = createSessions({ target, ...options });
  const slots = createSlots(MAX_REQUESTS);
  const start = (exchange: Exchange): GiveUp => {
    /** Of each stage. Those of stages that are over do nothing. */
    const undo: GiveUp[] = [];
    const begin = (session: Session | undefined, leave: () => void): void => {
      if (session !== undefined) {
        undo.push(carry(session, target, exchange, leave));
        return;
      }
      leave();
      undo.push(http1.start(exchange));
    };
    const wait = (leave: () => void): void => {
      const fail = (cause: unknown): void => {
        leave();
        exchange.fail(cause);
      };
      undo.push(sessions.whenRoom(exchange.tls, { begin: (session) => begin(session, leave), fail }));
    };
    if (exchange.request.streaming) wait(() => undefined);
    else undo.push(slots.enter(wait));
    return (error) => {
      for (const step of undo) step(error);
    };
  };
  return {
    start,
    dropFrom: (address) => {
      sessions.dropFrom(address);
      http1.dropFrom(address);
    },
    close: () => {
      sessions.close();
      http1.close();
    },
  };
};

const carry = (session: Session, target: Target, exchange: Exchange, leave: () => void): GiveUp => {
  const opened = exchange.mayBegin() ? open(session, target, exchange) : undefined;
  if (opened === undefined) {
    leave();
    return () => undefined;
  }
  const { stream, repeat } = opened;
  stream.on('error', (cause) => exchange.fail(cause, repeat()));
  stream.once('close', () => {
    leave();
    exchange.fail(new Error(`the stream was closed (${stream.rstCode})`), repeat());
  });
  const cancel = (): void => cancelStream(stream);
  stream.once('response', (headers) => {
    const { ':status': status = 0 } = headers;
    exchange.respond(
      { status, headers: flatHeaders(headers) },
      { stream, leave: cancel, isWhole: () => stream.rstCode === NO_ERROR },
    );
  });
  return cancel;
};

const open = (session: Session, target: Target, exchange: Exchange) => {
  try {
    return session.open(http2Headers(target, exchange), exchange.request.body);
  } catch (cause) {
    exchange.fail(cause);
    return undefined;
  }
};

/** Codes of RFC 9113 §7. */
const NO_ERROR = 0;
const CANCEL = 8;

/** The server is told, and other streams are not concerned. */
const cancelStream = (stream: ClientHttp2Stream): void => {
  if (stream.destroyed) return;
  stream.close(CANCEL);
  stream.destroy();
};
