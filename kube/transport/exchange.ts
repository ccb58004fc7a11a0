/** One attempt at a request: how long it may take, what ends it, and what its caller gets. The protocol does the rest. */
import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import type { TlsMaterial } from '../config/types.ts';
import { KubeError } from '../errors.ts';
import { type Incoming, responseBody } from './response-body.ts';
import { type Repeat, StaleConnection } from './stale-connection.ts';
import type { TransportRequest, TransportResponse } from './types.ts';

/** A protocol, with its connections. */
export interface Wire {
  /** Sends the request as soon as there is a connection for it. */
  start(exchange: Exchange): GiveUp;
  /** Ends connections from an address that this machine no longer has: they would wait for packets that cannot come. */
  dropFrom(address: string): void;
  close(): void;
}

/** Ends the attempt at whatever stage it is. Its caller has been answered. */
export type GiveUp = (error?: KubeError) => void;

export interface Outgoing {
  readonly request: TransportRequest;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly tls: TlsMaterial;
}

export interface Exchange extends Outgoing {
  /** Asked when bytes are about to go into a connection that is there. Where it says no, nothing may be sent. */
  mayBegin(): boolean;
  respond(head: Omit<TransportResponse, 'body'>, incoming: Incoming): void;
  /** Of no effect on a caller who has been answered. */
  fail(cause: unknown, repeat?: Repeat): void;
}

export interface ExchangeOptions {
  /** The request, for messages. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly mayWrite: (() => boolean) | undefined;
}

/** @param signal not aborted yet */
export const runExchange = (
  wire: Wire,
  outgoing: Outgoing,
  { what, timeoutMs, clock, mayWrite }: ExchangeOptions,
  signal: AbortSignal | undefined,
): Promise<TransportResponse> =>
  new Promise((resolve, reject) => {
    const { method, streaming } = outgoing.request;
    /** Ours, and not the connection's. */
    let refusal: KubeError | undefined;
    let giveUp: GiveUp = () => undefined;
    const failureOf = (cause: unknown): unknown => {
      if (signal?.aborted) return signal.reason;
      return refusal ?? networkError(what, cause);
    };
    const stopTimer = clock.schedule(timeoutMs, () => {
      refusal = new KubeError('ERR_KUBE_TIMEOUT', `${what}: no complete answer within ${timeoutMs} ms`);
      end();
    });
    const stopListening = onAbort(signal, () => end());
    const release = (): void => {
      stopTimer();
      stopListening();
    };
    /** What is queued for a connection reports its end only when it gets one, so nobody waits for that. */
    const end = (): void => {
      release();
      reject(failureOf(undefined));
      giveUp(refusal);
    };
    const fail = (cause: unknown, repeat?: Repeat): void => {
      release();
      const failure = failureOf(cause);
      const isOfConnection = failure instanceof KubeError && failure !== refusal;
      reject(isOfConnection && repeat !== undefined ? new StaleConnection(failure, repeat) : failure);
    };
    const mayBegin = (): boolean => {
      if (method === 'GET' || mayWrite === undefined || mayWrite()) return true;
      refusal = new KubeError('ERR_KUBE_NOT_LEADING', `${what}: the lease may have passed to another`);
      fail(refusal);
      return false;
    };
    const respond: Exchange['respond'] = (head, incoming) => {
      if (streaming) stopTimer();
      resolve({ ...head, body: responseBody(incoming, { release, failureOf }) });
    };
    try {
      giveUp = wire.start({ ...outgoing, mayBegin, respond, fail });
    } catch (error) {
      release();
      reject(error);
    }
  });

const networkError = (what: string, cause: unknown): KubeError =>
  new KubeError('ERR_KUBE_NETWORK', `${what}: ${messageOf(cause)}`, { cause });
