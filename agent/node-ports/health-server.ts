/** Answers load balancers, on a port of the node, whether a Service has endpoints here. */
import type { IncomingMessage, Server } from 'node:http';
import { createPublicServer } from '../../program/public-server.ts';
import type { HealthCheck } from '../model/node-ports.ts';
import { healthAnswer } from './health-answer.ts';

export class HealthServer {
  /** What is answered from now on; its port is that of the beginning. */
  check: HealthCheck;
  readonly #server: Server;

  private constructor(check: HealthCheck, isHealthy: () => boolean) {
    this.check = check;
    this.#server = createPublicServer((request, response) => {
      const { status, headers, body } = healthAnswer(this.check, familyOf(request), isHealthy());
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
    });
  }

  /** On all addresses, of both families where the node has both. @throws when the port cannot be listened on */
  static async open(check: HealthCheck, isHealthy: () => boolean): Promise<HealthServer> {
    const opened = new HealthServer(check, isHealthy);
    const server = opened.#server;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // It stays: a server that cannot accept for a moment says so here, and goes on.
    server.on('error', reject);
    server.listen({ port: check.port }, resolve);
    await promise;
    return opened;
  }

  /** When it resolves, the port is free. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

/** A client of IPv4 has a mapped address here: `::ffff:172.30.0.2`. */
const familyOf = ({ socket }: IncomingMessage): 4 | 6 => (socket.localAddress?.includes('.') === true ? 4 : 6);
