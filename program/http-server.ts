/** `/metrics`, `/healthz` and `/readyz` for Prometheus and the kubelet. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import { messageOf } from '../base/error-message.ts';
import type { ListenAddress } from './flags.ts';
import { createPublicServer } from './public-server.ts';

export interface HttpServerOptions {
  /** Port 0 takes a free one. */
  readonly address: ListenAddress;
  /** Absent: without TLS. */
  readonly certificate?: Certificate | undefined;
  readonly contentType: string;
  readonly metrics: () => Promise<string>;
  /** Why it should be restarted, one message each; empty: it need not be. That it answers says that it runs at all. */
  readonly notAlive: () => readonly string[];
  /** Why it is not ready, one message each; empty: ready. */
  readonly notReady: () => readonly string[];
  /** Whether who sends this header may get the path. Never rejects. @param peer the address that it comes from */
  readonly access: (path: string, authorization: string | undefined, peer: string) => Promise<Access>;
}

/** `unavailable`: nobody can say so now. */
export type Access = 'allowed' | 'forbidden' | 'unauthenticated' | 'unavailable';

/** PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface HttpServer {
  readonly port: number;
  /** For connections from now on. @throws when the two do not belong together; the one before stays */
  renew(certificate: Certificate): void;
  close(): Promise<void>;
}

/** @throws when the address can't be listened on */
export const startHttpServer = async (options: HttpServerOptions): Promise<HttpServer> => {
  const server = createPublicServer(
    (request, response) => {
      answer(options, request, response).catch((error: unknown) => {
        response.writeHead(500).end(messageOf(error));
      });
    },
    undefined,
    options.certificate,
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.address.port, options.address.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    renew: (certificate) => {
      (server as Partial<Pick<TlsServer, 'setSecureContext'>>).setSecureContext?.(certificate);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const answer = async (
  options: HttpServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const path = (request.url ?? '').split('?')[0] ?? '';
  const { headers, socket } = request;
  const access = (): Promise<Access> => options.access(path, headers.authorization, socket.remoteAddress ?? '');
  switch (path) {
    case '/metrics':
      await answerMetrics(options, await access(), response);
      return;
    case '/healthz':
      await answerProbe(response, options.notAlive(), access);
      return;
    case '/readyz':
      await answerProbe(response, options.notReady(), access);
      return;
    default:
      response.writeHead(404).end('not found\n');
  }
};

/** They name networks, and every process of a node reaches its loopback addresses: host-network pods of all tenants, too. */
const answerMetrics = async (options: HttpServerOptions, access: Access, response: ServerResponse): Promise<void> => {
  const refusal = access === 'allowed' ? undefined : REFUSALS[access];
  if (refusal === undefined) {
    response.writeHead(200, { 'content-type': options.contentType }).end(await options.metrics());
    return;
  }
  const { status, text } = refusal;
  response.writeHead(status, status === 401 ? { 'www-authenticate': 'Bearer' } : {}).end(`${text}\n`);
};

const REFUSALS: Readonly<Record<Exclude<Access, 'allowed'>, { readonly status: number; readonly text: string }>> = {
  unauthenticated: { status: 401, text: 'send the bearer token of an account with access to this path' },
  forbidden: {
    status: 403,
    text: 'this account has no access to this path: see the ClusterRole ovn-udn-metrics-reader',
  },
  unavailable: { status: 503, text: 'the API server did not review the access of this account: try again' },
};

/** The kubelet needs the status alone. Reasons may name networks, and are for those who may get the path. */
const answerProbe = async (
  response: ServerResponse,
  reasons: readonly string[],
  access: () => Promise<Access>,
): Promise<void> => {
  if (reasons.length === 0) response.writeHead(200).end('ok\n');
  else if ((await access()) === 'allowed') response.writeHead(503).end(`${reasons.join('\n')}\n`);
  else response.writeHead(503).end('the reasons are shown to accounts with access to this path\n');
};
