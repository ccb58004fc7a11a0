/** Connection pools of HTTP/1.1: one per set of TLS material, so that rotated certificates are used by new connections. */
import http, { type ClientRequest, type RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { ClusterConnection, TlsMaterial } from '../config/types.ts';
import type { Target } from './target.ts';
import { withoutUndefined } from './tls-options.ts';

/**
 * How long an unused connection is kept: less than API servers do (90 s and more), so that it is us who close it and a
 * request rarely meets a connection that is being closed.
 */
const IDLE_MS = 30_000;

/** Requests at once; more wait. Watches are not counted: each holds its connection for minutes. */
const MAX_SOCKETS = 32;

interface Pool {
  readonly agent: http.Agent;
  start(options: RequestOptions): ClientRequest;
}

interface Pools {
  readonly requests: Pool;
  readonly streams: Pool;
}

export interface Agents {
  for(tls: TlsMaterial, streaming: boolean): Pool;
  /** Ends connections from an address that this machine no longer has: they would wait for packets that cannot come. */
  dropFrom(address: string): void;
  close(): void;
}

export const createAgents = (target: Target, connection: ClusterConnection): Agents => {
  let current: { readonly tls: TlsMaterial; readonly pools: Pools } | undefined;
  return {
    for: (tls, streaming) => {
      if (current?.tls !== tls) {
        if (current !== undefined) closeIdle(current.pools.requests.agent);
        current = { tls, pools: createPools(target, tls, connection.proxyUrl) };
      }
      return streaming ? current.pools.streams : current.pools.requests;
    },
    dropFrom: (address) => {
      for (const { agent } of current === undefined ? [] : [current.pools.requests, current.pools.streams]) {
        for (const socket of socketsOf(agent)) if (socket.localAddress === address) socket.destroy();
      }
    },
    close: () => {
      current?.pools.requests.agent.destroy();
      current?.pools.streams.agent.destroy();
      current = undefined;
    },
  };
};

/** Requests under way keep their connections, and leave them to the timeout of idle ones. */
const closeIdle = ({ freeSockets }: http.Agent): void => {
  for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy();
};

const socketsOf = ({ sockets, freeSockets }: http.Agent): Socket[] =>
  [sockets, freeSockets].flatMap((byHost) => Object.values(byHost).flatMap((some) => some ?? []));

const createPools = (target: Target, tls: TlsMaterial, proxyUrl: string | undefined): Pools => ({
  requests: createPool(target, tls, { keepAlive: true, timeout: IDLE_MS, maxSockets: MAX_SOCKETS, ...proxy(proxyUrl) }),
  // A connection is of no use to others after a watch. TCP keep-alive finds out that the server is gone.
  streams: createPool(target, tls, { keepAlive: false, ...proxy(proxyUrl) }),
});

const proxy = (proxyUrl: string | undefined): http.AgentOptions =>
  proxyUrl === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl } };

const createPool = ({ secure, prefix, options }: Target, tls: TlsMaterial, pooling: http.AgentOptions): Pool => {
  // Only here: TLS takes 8 MiB of memory, which sidecars and tests on plain HTTP need not have.
  const secured = secure ? process.getBuiltinModule('node:https') : undefined;
  const agent = secured ? new secured.Agent({ ...pooling, ...withoutUndefined(tls) }) : new http.Agent(pooling);
  const { request } = secured ?? http;
  return { agent, start: (own) => request({ ...options, ...own, path: `${prefix}${own.path ?? ''}` }) };
};
