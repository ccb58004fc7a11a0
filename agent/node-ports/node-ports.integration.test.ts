/** Health checks and claims, with real sockets. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { get, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { HealthCheck, NodePortItem } from '../model/node-ports.ts';
import { readListeners } from './listeners.ts';
import { openNodePorts } from './node-ports.ts';

let isHealthy = true;
let reported: string[] = [];

beforeEach(() => {
  isHealthy = true;
  reported = [];
});

const start = () => {
  const ports = openNodePorts({
    node: 'n1',
    clock: systemClock,
    isHealthy: () => isHealthy,
    report: (service, reason, message) => reported.push(`${service} ${reason}: ${message}`),
    observe: () => undefined,
  });
  onTestFinished(() => ports.stop());
  ports.start();
  return {
    ...ports,
    want: (...items: readonly NodePortItem[]) => ports.sink.set('node-ports:red/web', items),
  };
};

/** One that is free on all addresses. */
const freePort = async (): Promise<number> => {
  const server = await listen(0);
  const { port } = server.address() as AddressInfo;
  await closed(server);
  return port;
};

const listen = async (port: number, host?: string): Promise<Server> => {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return server;
};

const closed = async (server: Server): Promise<void> => {
  server.close();
  await once(server, 'close');
};

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly localEndpoints: number;
  readonly serviceProxyHealthy: boolean;
}

const ask = async (port: number, host: string, method = 'GET', path = '/'): Promise<Answer> => {
  const request = get({ port, host, method, path, agent: false });
  const [response] = await once(request, 'response');
  const text = (await response.toArray()).join('');
  return { status: response.statusCode, headers: response.headers, ...JSON.parse(text || '{}') };
};

const check = (port: number, localEndpoints: HealthCheck['localEndpoints']): HealthCheck => ({
  kind: 'health-check',
  service: 'red/web',
  port,
  localEndpoints,
});

const refused = async (port: number): Promise<void> => {
  await vi.waitFor(() => expect(ask(port, '127.0.0.1')).rejects.toThrow(/ECONNREFUSED/));
};

const answers = async (port: number, host: string, expected: Partial<Answer>): Promise<void> => {
  await vi.waitFor(async () => expect(await ask(port, host)).toMatchObject(expected));
};

describe('a health check', () => {
  it('answers on the addresses of both families, each with its own endpoints, and follows them', async () => {
    const ports = start();
    const port = await freePort();
    ports.want(check(port, { 4: 2, 6: 0 }));
    await answers(port, '127.0.0.1', { status: 200, localEndpoints: 2, serviceProxyHealthy: true });
    await answers(port, '::1', { status: 503, localEndpoints: 0 });
    const { headers } = await ask(port, '127.0.0.1', 'HEAD', '/any/path?x');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'x-load-balancing-endpoint-weight': '2',
    });
    ports.want(check(port, { 4: 0, 6: 1 }));
    await answers(port, '127.0.0.1', { status: 503, localEndpoints: 0 });
    await answers(port, '::1', { status: 200, localEndpoints: 1 });
    isHealthy = false;
    await answers(port, '::1', { status: 503, localEndpoints: 1, serviceProxyHealthy: false });
    expect(ports.serving()).toBe(1);
  });

  it('moves with its port, and is gone with its Service, also for those who keep a connection', async () => {
    const ports = start();
    const [first, second] = [await freePort(), await freePort()];
    ports.want(check(first, { 4: 1 }));
    await answers(first, '127.0.0.1', { status: 200 });
    ports.want(check(second, { 4: 1 }));
    await answers(second, '127.0.0.1', { status: 200 });
    await refused(first);
    const idle = connect(second, '127.0.0.1');
    await once(idle, 'connect');
    ports.sink.delete('node-ports:red/web');
    await once(idle, 'close');
    await refused(second);
    expect(ports.serving()).toBe(0);
  });

  it('goes from one Service to another with its port', async () => {
    const ports = start();
    const port = await freePort();
    ports.want(check(port, { 4: 1 }));
    await answers(port, '127.0.0.1', { status: 200 });
    ports.sink.delete('node-ports:red/web');
    ports.sink.set('node-ports:red/other', [{ ...check(port, { 4: 0 }), service: 'red/other' }]);
    await answers(port, '127.0.0.1', { status: 503 });
    expect(reported).toEqual([]);
  });

  it('whose port another process has is reported once, keeps nobody else from theirs, and is retried', async () => {
    const ports = start();
    const other = await listen(0);
    const { port } = other.address() as AddressInfo;
    const free = await freePort();
    ports.sink.set('node-ports:red/free', [{ ...check(free, { 4: 1 }), service: 'red/free' }]);
    ports.want(check(port, { 4: 1 }));
    await answers(free, '127.0.0.1', { status: 200 });
    const message = `load balancers get no health check of its endpoints on node n1: TCP port ${port} cannot be opened: another process listens on it`;
    const problem = { object: 'Service/red/web', message, severity: 'warning', cause: 'service-port-taken' };
    await vi.waitFor(() => expect(ports.problems()).toEqual([problem]));
    // Some attempts later.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(reported).toEqual([`Service/red/web FailedToStartServiceHealthcheck: ${message}`]);
    expect(ports.clashes()).toBe(1);
    await closed(other);
    await vi.waitFor(async () => expect(await ask(port, '127.0.0.1')).toMatchObject({ status: 200 }), 10_000);
    expect(ports.problems()).toEqual([]);
  });

  it('is closed in the end, and opened by who comes next', async () => {
    const port = await freePort();
    for (let round = 0; round < 2; round++) {
      const ports = start();
      ports.want(check(port, { 4: 1 }));
      await answers(port, '127.0.0.1', { status: 200 });
      await ports.stop();
      await refused(port);
      expect((await readListeners()).filter((one) => one.port === port)).toEqual([]);
    }
  });
});

it('who listens where a Service has a node port is reported, and forgotten when that ends', async () => {
  const ports = start();
  const tcp = await listen(0, '0.0.0.0');
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket('udp4').bind(port, '0.0.0.0');
  await once(udp, 'listening');
  onTestFinished(() => {
    udp.close();
  });
  const claim = { kind: 'claim', object: 'Service/red/web', port, families: [4] } as const;
  ports.want({ ...claim, protocol: 'TCP' }, { ...claim, protocol: 'UDP' });
  const event = (protocol: string): string =>
    `Service/red/web PortClaim: a process of node n1 listens on ${protocol} 0.0.0.0:${port}: ` +
    `traffic to node port ${port} goes to this Service, not to that process`;
  await vi.waitFor(() => expect(reported.toSorted()).toEqual([event('TCP'), event('UDP')]));
  expect(ports.clashes()).toBe(2);
  await closed(tcp);
  // It is looked at again for what changes, and after a while.
  ports.want({ ...claim, protocol: 'TCP', families: [4, 6] }, { ...claim, protocol: 'UDP' });
  await vi.waitFor(() => expect(ports.clashes()).toBe(1));
  expect(reported).toHaveLength(2);
});

it('no claim takes a port, or answers on it', async () => {
  const ports = start();
  const port = await freePort();
  ports.want({ kind: 'claim', object: 'Service/red/web', protocol: 'TCP', port, families: [4, 6] });
  await refused(port);
  await listen(port);
  expect(ports.serving()).toBe(0);
});
