/**
 * HTTP/1.1 with kept-alive connections over Node's own client. It is not undici: loading and using that costs 15 to 25 MB
 * of resident memory more (docs/adr), and the agent serves HTTP with node:http anyway.
 */
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { ClusterConnection } from '../config/types.ts';
import { type Agents, createAgents } from './agents.ts';
import type { Exchange, GiveUp, Wire } from './exchange.ts';
import { flatHeaders } from './flat-headers.ts';
import type { Target } from './target.ts';

export const createHttp1Wire = (target: Target, connection: ClusterConnection): Wire => {
  const agents = createAgents(target, connection);
  return {
    start: (exchange) => start(agents, exchange),
    dropFrom: (address) => agents.dropFrom(address),
    close: () => agents.close(),
  };
};

const start = (agents: Agents, exchange: Exchange): GiveUp => {
  const { method, path, body, streaming = false } = exchange.request;
  const pool = agents.for(exchange.tls, streaming);
  const outgoing = pool.start({ method, path, headers: mutable(exchange.headers), agent: pool.agent });
  outgoing.on('error', (cause) => exchange.fail(cause, outgoing.reusedSocket ? 'lost' : undefined));
  outgoing.on('response', (incoming) => {
    if (streaming) incoming.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    exchange.respond(
      { status: incoming.statusCode ?? 0, headers: flatHeaders(incoming.headers) },
      // Node reports one that is cut off.
      { stream: incoming, leave: () => incoming.destroy(), isWhole: () => true },
    );
  });
  if (method === 'GET') outgoing.end(body);
  else whenConnected(outgoing, () => (exchange.mayBegin() ? outgoing.end(body) : outgoing.destroy()));
  return (error) => outgoing.destroy(error);
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

const mutable = (headers: Exchange['headers']): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
