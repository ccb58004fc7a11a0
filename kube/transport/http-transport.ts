/** A transport by HTTP: the requests of a client with its credentials, each sent once more where that does no harm. */
import { type Clock, systemClock } from '../../base/clock.ts';
import type { ClusterConnection } from '../config/types.ts';
import { runExchange, type Wire } from './exchange.ts';
import { createHttp1Wire } from './http1-wire.ts';
import { createHttp2Wire } from './http2-wire.ts';
import { replacingStale } from './stale-connection.ts';
import { targetOf } from './target.ts';
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
  readonly wire: Wire;
  readonly mayWrite: MayWrite | undefined;
}

/** @throws KubeError ERR_KUBE_CONFIG when the server's address is not one */
export const createHttpTransport = ({
  connection,
  timeoutMs = 30_000,
  clock = systemClock,
  lostAddresses,
  mayWrite,
}: HttpTransportOptions): Transport => {
  const wire = createWire(connection, clock);
  const context = { connection, timeoutMs, clock, wire, mayWrite };
  lostAddresses?.((address) => wire.dropFrom(address));
  const send = (request: TransportRequest, signal: AbortSignal | undefined) =>
    replacingStale(request.method, () => exchange(context, request, signal));
  return {
    send: async (request, signal) => {
      const response = await send(request, signal);
      if (response.status !== 401 || !connection.credentials.refresh()) return response;
      await drain(response);
      return send(request, signal);
    },
    close: () => wire.close(),
  };
};

/** Proxies are Node's business, which has them for HTTP/1.1 only. */
const createWire = (connection: ClusterConnection, clock: Clock): Wire => {
  const target = targetOf(connection.server);
  const http1 = createHttp1Wire(target, connection);
  return target.secure && connection.proxyUrl === undefined ? createHttp2Wire({ target, http1, clock }) : http1;
};

const exchange = async (
  { connection, wire, ...context }: Context,
  request: TransportRequest,
  signal: AbortSignal | undefined,
): Promise<TransportResponse> => {
  signal?.throwIfAborted();
  const { credentials, server } = connection;
  const [own, tls] = await Promise.all([credentials.headers(), credentials.tls()]);
  // It may have aborted meanwhile, and would not fire again.
  signal?.throwIfAborted();
  const headers = { ...own, ...withLength(request) };
  const what = `${request.method} ${server}${request.path}`;
  return runExchange(wire, { request, headers, tls }, { ...context, what }, signal);
};

const withLength = ({ headers, body }: TransportRequest): Record<string, string> =>
  body === undefined ? { ...headers } : { ...headers, 'content-length': String(Buffer.byteLength(body)) };

const drain = async ({ body }: TransportResponse): Promise<void> => {
  for await (const _ of body);
};
