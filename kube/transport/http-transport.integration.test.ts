import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createKubeClient } from '../client/client.ts';
import { createCredentials } from '../config/credentials.ts';
import { CONFIG_MAPS } from '../resources.ts';
import { get, text, useHarness } from './testing/harness.ts';

const { pathOf, cleanups, listen, serve, transportTo } = useHarness();

describe('a request', () => {
  it('goes over a unix socket', async () => {
    const path = pathOf('api.sock');
    const server = createServer((_, outgoing) => outgoing.end('local')).listen(path);
    await once(server, 'listening');
    cleanups.push(() => void server.close());
    expect(await text(await get(transportTo(`unix:${path}`)))).toBe('local');
  });

  it('is an error without a server', async () => {
    await expect(get(transportTo('http://127.0.0.1:1'))).rejects.toMatchObject({
      code: 'ERR_KUBE_NETWORK',
      message: expect.stringContaining('GET http://127.0.0.1:1/'),
    });
    expect(() => transportTo('ftp://nowhere')).toThrow(/not the address of an API server/);
  });
});

/** A server that answers each connection's first request and resets the connection at the second. */
const serveOnce = async (): Promise<{ server: string; requests: string[] }> => {
  const requests: string[] = [];
  const server = createTcpServer((socket: Socket) => {
    let served = false;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      requests.push(chunk.toString().split(' ')[0] ?? '');
      if (served) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      served = true;
    });
    cleanups.push(() => void socket.destroy());
  });
  return { server: `http://127.0.0.1:${await listen(server)}`, requests };
};

describe('a connection that dies while it is reused', () => {
  it('is replaced for requests that may be sent twice', async () => {
    const { server, requests } = await serveOnce();
    const transport = transportTo(server);
    await text(await get(transport));
    expect(await text(await get(transport))).toBe('ok');
    expect(requests).toEqual(['GET', 'GET', 'GET']);
  });

  it('is an error for requests that may not', async () => {
    const { server, requests } = await serveOnce();
    const transport = transportTo(server);
    await text(await get(transport));
    const post = transport.send({ method: 'POST', path: '/', headers: {}, body: 'x' });
    await expect(post).rejects.toMatchObject({ code: 'ERR_KUBE_NETWORK' });
    expect(requests).toEqual(['GET', 'POST']);
  });
});

describe('credentials', () => {
  it('come from a plugin', async () => {
    const plugin = pathOf('plugin.sh');
    const credential =
      '{"kind":"ExecCredential","status":{"token":"\'"$TOKEN-$(echo "$KUBERNETES_EXEC_INFO" | grep -c v1beta1)"\'"}}';
    await writeFile(plugin, `#!/bin/sh\necho run >> "$LOG"\necho '${credential}'\n`);
    await chmod(plugin, 0o755);
    const log = pathOf('plugin.log');
    const env = [
      { name: 'TOKEN', value: 'plugged' },
      { name: 'LOG', value: log },
    ];
    const exec = { apiVersion: 'client.authentication.k8s.io/v1beta1', command: plugin, env };
    const credentials = createCredentials({ exec }, { clock: systemClock });
    for (let i = 0; i < 2; i += 1) expect(await credentials.headers()).toEqual({ authorization: 'Bearer plugged-1' });
    expect(await readFile(log, 'utf8')).toBe('run\n');
    expect(credentials.refresh()).toBe(true);
    await credentials.headers();
    expect(await readFile(log, 'utf8')).toBe('run\nrun\n');
    const broken = createCredentials({ exec: { command: '/no/such/plugin' } }, { clock: systemClock });
    await expect(broken.headers()).rejects.toMatchObject({ code: 'ERR_KUBE_CONFIG' });
  });
});

describe('the client', () => {
  const answering = async (status: number, body: string, headers: Record<string, string> = {}) =>
    createKubeClient({
      transport: transportTo(await serve((_, outgoing) => outgoing.writeHead(status, headers).end(body))),
    });

  it('makes errors of Status objects', async () => {
    const causes = [{ reason: 'FieldValueInvalid', message: 'bad', field: 'spec.a' }];
    const body = {
      kind: 'Status',
      message: 'too many',
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 3, causes },
    };
    const client = await answering(429, JSON.stringify(body), { 'retry-after': '7' });
    await expect(client.list(CONFIG_MAPS)).rejects.toMatchObject({
      code: 'ERR_KUBE_STATUS',
      status: 429,
      reason: 'TooManyRequests',
      retryAfterMs: 7000,
      causes,
      message: 'GET /api/v1/configmaps: too many (429)',
    });
  });

  it('makes errors of what proxies say', async () => {
    const client = await answering(502, '<html>Bad Gateway</html>');
    await expect(client.list(CONFIG_MAPS)).rejects.toMatchObject({ status: 502, reason: undefined });
  });

  it.each([
    ['no JSON', 'hello'],
    ['no list', '[]'],
    ['items that are no list', '{"items":{}}'],
    ['an item without a name', '{"items":[{"metadata":{}}]}'],
  ])('refuses %s', async (_, body) => {
    const client = await answering(200, body);
    await expect(client.list(CONFIG_MAPS)).rejects.toMatchObject({ code: 'ERR_KUBE_PROTOCOL' });
  });

  it('takes null for an empty list', async () => {
    const client = await answering(200, '{"metadata":{"resourceVersion":"5"},"items":null}');
    expect(await client.list(CONFIG_MAPS)).toEqual({ items: [], resourceVersion: '5' });
  });

  it('wants a namespace for what is in one', async () => {
    const client = await answering(200, '{}');
    expect(() => client.get(CONFIG_MAPS, { name: 'a' })).toThrow(TypeError);
  });
});
