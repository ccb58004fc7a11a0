/** `/metrics`, `/healthz` and `/readyz` for Prometheus and the kubelet. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ListenAddress } from './flags.ts';

export interface HttpServerOptions {
  /** Port 0 takes a free one. */
  readonly address: ListenAddress;
  readonly contentType: string;
  readonly metrics: () => Promise<string>;
  /** Why it is not ready, a sentence each; empty: ready. */
  readonly notReady: () => readonly string[];
}

export interface HttpServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws when the address can't be listened on */
export const startHttpServer = async (options: HttpServerOptions): Promise<HttpServer> => {
  const server = createServer((request, response) => {
    answer(options, request.url ?? '', response).catch((error: unknown) => {
      response.writeHead(500).end(error instanceof Error ? error.message : String(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.address.port, options.address.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const answer = async (options: HttpServerOptions, url: string, response: ServerResponse): Promise<void> => {
  switch (url.split('?')[0]) {
    case '/metrics':
      response.writeHead(200, { 'content-type': options.contentType }).end(await options.metrics());
      return;
    case '/healthz':
      response.writeHead(200).end('ok\n');
      return;
    case '/readyz': {
      const reasons = options.notReady();
      response
        .writeHead(reasons.length === 0 ? 200 : 503)
        .end(reasons.length === 0 ? 'ok\n' : `${reasons.join('\n')}\n`);
      return;
    }
    default:
      response.writeHead(404).end('not found\n');
  }
};
