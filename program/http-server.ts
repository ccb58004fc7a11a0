/** `/metrics`, `/healthz` and `/readyz` for Prometheus and the kubelet. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ListenAddress } from './flags.ts';

export interface HttpServerOptions {
  /** Port 0 takes a free one. */
  readonly address: ListenAddress;
  readonly contentType: string;
  readonly metrics: () => Promise<string>;
  /** Why it should be started anew, a sentence each; empty: it need not be. That it answers says that it runs at all. */
  readonly notAlive: () => readonly string[];
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
      tell(response, options.notAlive());
      return;
    case '/readyz':
      tell(response, options.notReady());
      return;
    default:
      response.writeHead(404).end('not found\n');
  }
};

const tell = (response: ServerResponse, reasons: readonly string[]): void => {
  if (reasons.length === 0) response.writeHead(200).end('ok\n');
  else response.writeHead(503).end(`${reasons.join('\n')}\n`);
};
