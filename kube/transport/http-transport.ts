/**
 * HTTP/1.1 with kept-alive connections over Node's own client. It is not undici: loading and using that costs 15 to 25 MB
 * of resident memory more (docs/adr), and the agent serves HTTP with node:http anyway.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { onAbort } from '../../base/abort.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import type { ClusterConnection } from '../config/types.ts';
import { KubeError } from '../errors.ts';
import { createAgents } from './agents.ts';
import { responseBody } from './response-body.ts';
import type { Transport, TransportRequest, TransportResponse } from './types.ts';

export interface HttpTransportOptions {
  readonly connection: ClusterConnection;
  /** To the end of the response, or to its head when the request is streaming. Default 30 000. */
  readonly timeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly lostAddresses?: LostAddresses | undefined;
  readonly mayWrite?: MayWrite | undefined;
}

/**
 * Asked of everything but GET, when its bytes are about to go into a connection that is there: a request may have waited long
 * for one. Where it says no, nothing is sent. A process that stood still, stopped or asleep with its machine, goes on with what
 * was queued before timers and watches tell it that another leads. What was sent before may arrive late: the time between the
 * deadline of a renewal and the end of a lease is for that. A virtual machine whose clocks stand still with it cannot know;
 * there only the versions help that guarded writes carry.
 */
export type MayWrite = () => boolean;

/** Reports, until the program ends, which addresses this machine no longer has. */
export type LostAddresses = (listener: (address: string) => void) => void;

interface Context {
  readonly connection: ClusterConnection;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly agents: ReturnType<typeof createAgents>;
  readonly mayWrite: MayWrite | undefined;
}

export const createHttpTransport = ({
  connection,
  timeoutMs = 30_000,
  clock = systemClock,
  lostAddresses,
  mayWrite,
}: HttpTransportOptions): Transport => {
  const context = { connection, timeoutMs, clock, agents: createAgents(connection), mayWrite };
  lostAddresses?.((address) => context.agents.dropFrom(address));
  return {
    send: async (request, signal) => {
      const response = await sendReplacingStale(context, request, signal);
      if (response.status !== 401 || !connection.credentials.refresh()) return response;
      await drain(response);
      return sendReplacingStale(context, request, signal);
    },
    close: () => context.agents.close(),
  };
};

/** Methods that may be sent again when it is not known whether the server got them (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

/** A server may close an idle connection just when it is used again; that says nothing about the request. */
const sendReplacingStale = async (
  context: Context,
  request: TransportRequest,
  signal: AbortSignal | undefined,
): Promise<TransportResponse> => {
  try {
    return await exchange(context, request, signal);
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw error;
    if (!IDEMPOTENT.has(request.method)) throw error.failure;
    return await exchange(context, request, signal).catch((again) => {
      throw again instanceof StaleConnection ? again.failure : again;
    });
  }
};

class StaleConnection extends Error {
  readonly failure: KubeError;

  constructor(failure: KubeError) {
    super('a reused connection was closed');
    this.failure = failure;
  }
}

const exchange = async (
  context: Context,
  request: TransportRequest,
  signal: AbortSignal | undefined,
): Promise<TransportResponse> => {
  signal?.throwIfAborted();
  const { credentials } = context.connection;
  const [headers, tls] = await Promise.all([credentials.headers(), credentials.tls()]);
  // It may have aborted meanwhile, and would not fire again.
  signal?.throwIfAborted();
  const { agent, start } = context.agents.for(tls, request.streaming === true);
  return await new Promise((resolve, reject) => {
    const outgoing = start({
      method: request.method,
      path: request.path,
      headers: { ...mutable(headers), ...withLength(request) },
      agent,
    });
    finish(outgoing, context, request, signal, resolve, reject);
  });
};

const finish = (
  outgoing: ClientRequest,
  { connection, timeoutMs, clock, mayWrite }: Context,
  request: TransportRequest,
  signal: AbortSignal | undefined,
  resolve: (response: TransportResponse) => void,
  reject: (error: unknown) => void,
): void => {
  const what = `${request.method} ${connection.server}${request.path}`;
  /** Ours, and not the connection's. */
  let refusal: KubeError | undefined;
  const stopTimer = clock.schedule(timeoutMs, () => {
    refuse(new KubeError('ERR_KUBE_TIMEOUT', `${what}: no complete answer within ${timeoutMs} ms`));
  });
  /** A request that is queued for a connection reports its end only when it gets one, so nobody waits for that. */
  const giveUp = (error?: KubeError): void => {
    outgoing.destroy(error);
    release();
    reject(failureOf(error));
  };
  const refuse = (error: KubeError): void => {
    refusal = error;
    giveUp(error);
  };
  const stopListening = onAbort(signal, () => giveUp());
  const release = (): void => {
    stopTimer();
    stopListening();
  };
  const failureOf = (cause: unknown): unknown => {
    if (signal?.aborted) return signal.reason;
    return refusal ?? networkError(what, cause);
  };
  outgoing.on('error', (cause) => {
    release();
    const failure = failureOf(cause);
    const stale = outgoing.reusedSocket && failure instanceof KubeError && failure !== refusal;
    reject(stale ? new StaleConnection(failure) : failure);
  });
  outgoing.on('response', (incoming: IncomingMessage) => {
    if (request.streaming) {
      stopTimer();
      incoming.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    }
    resolve({
      status: incoming.statusCode ?? 0,
      headers: flatHeaders(incoming),
      body: responseBody(incoming, { release, failureOf }),
    });
  });
  if (mayWrite === undefined || request.method === 'GET') outgoing.end(request.body);
  else {
    whenConnected(outgoing, () => {
      if (mayWrite()) outgoing.end(request.body);
      else refuse(new KubeError('ERR_KUBE_NOT_LEADING', `${what}: the lease may have passed to another`));
    });
  }
};

/** Calls back when what is written into the request goes to the server at once, and not into a queue or a handshake. */
const whenConnected = (outgoing: ClientRequest, callback: () => void): void => {
  outgoing.once('socket', (socket: Socket) => {
    if (!socket.connecting) callback();
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => outgoing.destroyed || callback());
  });
};

/** After how long without bytes TCP begins to ask whether the other side is there. */
const KEEP_ALIVE_MS = 30_000;

const withLength = ({ headers, body }: TransportRequest): Record<string, string> =>
  body === undefined ? { ...headers } : { ...headers, 'content-length': String(Buffer.byteLength(body)) };

const mutable = (headers: Readonly<Record<string, string | readonly string[]>>): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );

const flatHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );

const networkError = (what: string, cause: unknown): KubeError =>
  new KubeError('ERR_KUBE_NETWORK', `${what}: ${messageOf(cause)}`, { cause });

const drain = async ({ body }: TransportResponse): Promise<void> => {
  for await (const _ of body);
};
