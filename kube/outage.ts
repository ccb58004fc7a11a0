/**
 * What everybody in this process knows together of a server that is away. Each for itself would wait longer and longer, and find
 * out up to half a minute late that the server is back. Together one tries every second, which costs a refused connection, and
 * the first answer wakes the others: within half a second, so that a thousand processes do not ask for everything at once.
 */
import { onAbort } from '../base/abort.ts';
import { backoffMs } from '../base/backoff.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { isUnauthorized, KubeError } from './errors.ts';

export interface Outage {
  /**
   * To be called after a request that got no answer. Resolves when it is this one's turn to try, when the server has answered
   * another one, after `atMostMs`, or when the signal aborts.
   */
  wait(atMostMs: number, signal?: AbortSignal): Promise<void>;
  /**
   * The server has answered, with what was asked for or with an error. Or it has not within the time that a request has: such a server is
   * away too when nobody else got an answer meanwhile, but nobody waits for another one.
   */
  answered(error?: unknown): void;
  /** Since when nobody has got an answer, in milliseconds since the epoch; undefined: the last who asked got one. */
  readonly since: number | undefined;
  /** Since when it has answered that it does not know who asks (401), in milliseconds since the epoch; undefined: it knows. */
  readonly unauthorizedSince: number | undefined;
  /** It has answered a request with what was asked for. */
  readonly hasServed: boolean;
  /** When the last one ended, in milliseconds since the epoch. */
  readonly endedAt: number | undefined;
}

export interface OutageOptions {
  readonly clock?: Clock | undefined;
  /** In [0, 1). */
  readonly random?: (() => number) | undefined;
}

/** Longer than any program goes without an answer that a server gives: agents renew their report after 13 s. */
const SILENT_MS = 20_000;
const TRY = { minMs: 250, maxMs: 1_000 };
const SPREAD_MS = 500;

/** The connection failed or there was none. A server that is slow or overloaded is not away: those wait for themselves. */
export const isAway = (error: unknown): boolean => error instanceof KubeError && error.code === 'ERR_KUBE_NETWORK';

/** It hangs, or packets to it are lost without a word. */
const isLate = (error: unknown): boolean => error instanceof KubeError && error.code === 'ERR_KUBE_TIMEOUT';

/** One for all that use a server. */
export const createOutage = ({ clock = systemClock, random = Math.random }: OutageOptions = {}): Outage => {
  /** In the order in which they try. */
  const waiting = new Set<(inMs: number) => void>();
  let tries = 0;
  let since: number | undefined;
  let unauthorizedSince: number | undefined;
  let endedAt: number | undefined;
  let hasServed = false;
  let cancelTry: (() => void) | undefined;
  let answeredAt = clock.monotonic();

  const tryLater = (): void => {
    if (cancelTry !== undefined) return;
    tries += 1;
    cancelTry = clock.schedule(backoffMs({ ...TRY, random }, tries), () => {
      cancelTry = undefined;
      const [first] = waiting;
      first?.(0);
      if (waiting.size > 0) tryLater();
    });
  };
  const stopTrying = (): void => {
    cancelTry?.();
    cancelTry = undefined;
  };

  return {
    get since() {
      return since;
    },
    get unauthorizedSince() {
      return unauthorizedSince;
    },
    get hasServed() {
      return hasServed;
    },
    get endedAt() {
      return endedAt;
    },
    wait: (atMostMs, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        since ??= clock.wall();
        const end = (): void => {
          cancel();
          waiting.delete(wake);
          stopListening();
          if (waiting.size === 0) stopTrying();
          resolve();
        };
        const wake = (inMs: number): void => {
          waiting.delete(wake);
          cancel();
          if (inMs === 0) end();
          else cancel = clock.schedule(inMs, end);
        };
        let cancel = clock.schedule(atMostMs, end);
        const stopListening = onAbort(signal, end);
        waiting.add(wake);
        tryLater();
      }),
    answered: (error) => {
      if (isLate(error)) {
        if (clock.monotonic() - answeredAt >= SILENT_MS) since ??= clock.wall();
        return;
      }
      answeredAt = clock.monotonic();
      unauthorizedSince = isUnauthorized(error) ? (unauthorizedSince ?? clock.wall()) : undefined;
      if (error === undefined) hasServed = true;
      tries = 0;
      if (since !== undefined) endedAt = clock.wall();
      since = undefined;
      stopTrying();
      for (const wake of [...waiting]) wake(SPREAD_MS * random());
    },
  };
};
