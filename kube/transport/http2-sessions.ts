/** The connections to a server: one, and others only as far as the server limits what one may carry. */
import type { Clock } from '../../base/clock.ts';
import type { TlsMaterial } from '../config/types.ts';
import { type Dial, type Dialled, dial } from './http2-dial.ts';
import { createSession, type Session } from './http2-session.ts';
import type { Target } from './target.ts';

/**
 * How long an unused connection is kept: less than API servers do (90 s and more), so that it is us who close it and a
 * request rarely meets a connection that is being closed.
 */
const IDLE_MS = 30_000;

export interface Sessions {
  /** Calls `waiter` back once, at once or later. @returns ends the waiting */
  whenRoom(tls: TlsMaterial, waiter: Waiter): () => void;
  dropFrom(address: string): void;
  close(): void;
}

export interface Waiter {
  /** With a session that has room now, or without one: the server speaks HTTP/1.1. */
  begin(session: Session | undefined): void;
  fail(cause: unknown): void;
}

export interface SessionsOptions {
  readonly target: Target;
  readonly clock: Clock;
  readonly idleMs?: number | undefined;
}

export const createSessions = ({ target, clock, idleMs = IDLE_MS }: SessionsOptions): Sessions => {
  const waiting = new Map<Waiter, TlsMaterial>();
  const sessions = new Map<Session, TlsMaterial>();
  const dials = new Map<TlsMaterial, Dial>();
  const withoutHttp2 = new WeakSet<TlsMaterial>();
  const known = new WeakSet<TlsMaterial>();
  const roomFor = (tls: TlsMaterial): Session | undefined =>
    sessions.entries().find(([session, own]) => own === tls && session.hasRoom())?.[0];
  const begin = (waiter: Waiter, session: Session | undefined): void => {
    waiting.delete(waiter);
    waiter.begin(session);
  };
  const serve = (): void => {
    for (const [waiter, tls] of waiting) {
      const session = roomFor(tls);
      if (session !== undefined || withoutHttp2.has(tls)) begin(waiter, session);
      else if (!dials.has(tls)) dials.set(tls, connect(tls));
    }
  };
  const connect = (tls: TlsMaterial): Dial =>
    dial(target, tls, clock, {
      done: (dialled) => {
        dials.delete(tls);
        if (dialled === undefined) withoutHttp2.add(tls);
        else if (!add(tls, dialled).hasRoom()) failAll(new Error('the server ends connections at once'), tls);
        serve();
      },
      fail: (cause) => {
        dials.delete(tls);
        failAll(cause, tls);
      },
    });
  const add = (tls: TlsMaterial, dialled: Dialled): Session => {
    const onClose = (): void => void sessions.delete(session);
    const session: Session = createSession(dialled, { clock, idleMs, onRoom: serve, onClose });
    sessions.set(session, tls);
    return session;
  };
  const failAll = (cause: unknown, only?: TlsMaterial): void => {
    for (const [waiter, tls] of [...waiting]) {
      if (only !== undefined && tls !== only) continue;
      waiting.delete(waiter);
      waiter.fail(cause);
    }
  };
  const stopWaiting = (waiter: Waiter, tls: TlsMaterial): void => {
    if (!waiting.delete(waiter) || waiting.values().some((other) => other === tls)) return;
    dials.get(tls)?.stop();
    dials.delete(tls);
  };
  return {
    whenRoom: (tls, waiter) => {
      // What is known may be old: a request that was queued before certificates changed retires nothing.
      if (!known.has(tls)) for (const session of sessions.keys()) session.retire();
      known.add(tls);
      waiting.set(waiter, tls);
      serve();
      return () => stopWaiting(waiter, tls);
    },
    dropFrom: (address) => {
      const reason = new Error(`this machine has lost ${address}`);
      for (const session of [...sessions.keys()]) if (session.localAddress === address) session.drop(reason);
      for (const attempt of [...dials.values()]) if (attempt.localAddress() === address) attempt.drop(reason);
    },
    close: () => {
      const reason = new Error('the client was closed');
      for (const attempt of dials.values()) attempt.stop();
      dials.clear();
      failAll(reason);
      for (const session of [...sessions.keys()]) session.close(reason);
    },
  };
};
