import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runKubeConformance } from '../../test/conformance/kube/suite.ts';
import { connect } from '../client/connect.ts';
import { loadConnection } from '../config/load.ts';
import { createReflector } from '../reflector/reflector.ts';
import { CONFIG_MAPS, NAMESPACES } from '../resources.ts';
import type { KubeClient } from '../types.ts';
import { startEmbeddedServer } from './server.ts';
import type { EmbeddedServer, EmbeddedServerOptions } from './types.ts';

const loopback = { host: '127.0.0.1', port: 0 };
const cleanups: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const clientOf = async (server: EmbeddedServer, url?: string): Promise<KubeClient> => {
  const folder = await mkdtemp(join(tmpdir(), 'embedded-'));
  await writeFile(join(folder, 'config'), server.kubeconfig(url));
  const connection = await loadConnection({ kubeconfig: join(folder, 'config'), env: {} });
  await rm(folder, { recursive: true });
  return connect(connection, { userAgent: 'integration' });
};

const start = async (options: Partial<EmbeddedServerOptions> = {}) => {
  const server = await startEmbeddedServer({ listen: [loopback], ...options });
  cleanups.push(() => server.close());
  const client = await clientOf(server);
  cleanups.push(() => client.close());
  return { server, client };
};

runKubeConformance({
  name: 'embedded, over HTTP',
  bookmarkSeconds: 1,
  newServer: async () => {
    const server = await startEmbeddedServer({ listen: [loopback], token: 'secret' });
    const client = await clientOf(server);
    return {
      client,
      compact: () => Promise.resolve(server.cluster.compact()),
      close: async () => {
        client.close();
        await server.close();
      },
    };
  },
});

describe('the server', () => {
  it('listens on several addresses', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'api.sock');
    const { server, client } = await start({ listen: [loopback, { host: '::1', port: 0 }, { path }] });
    expect(server.urls.map((url) => url.replace(/\d+$/, 'PORT'))).toEqual([
      'http://127.0.0.1:PORT',
      'http://[::1]:PORT',
      `unix:${path}`,
    ]);
    await client.create(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'a' } });
    for (const url of server.urls) {
      const other = await clientOf(server, url);
      expect((await other.get(CONFIG_MAPS, { namespace: 'default', name: 'a' })).metadata.name).toBe('a');
      other.close();
    }
    await server.close();
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('wants the token but for health checks', async () => {
    const { server, client } = await start({ token: 'secret' });
    await client.list(NAMESPACES);
    const get = async (path: string, authorization?: string) =>
      (await fetch(server.urls[0] + path, authorization === undefined ? {} : { headers: { authorization } })).status;
    expect(await get('/api/v1/namespaces')).toBe(401);
    expect(await get('/api/v1/namespaces', 'Bearer other')).toBe(401);
    expect(await get('/api/v1/namespaces', 'Bearer secret')).toBe(200);
    for (const path of ['/healthz', '/livez', '/readyz', '/readyz/etcd']) expect(await get(path)).toBe(200);
  });

  it('says what is wrong with a request', async () => {
    const { server } = await start();
    const url = `${server.urls[0]}/api/v1/namespaces/default/configmaps`;
    const post = (body: string, type = 'application/json') =>
      fetch(url, { method: 'POST', body, headers: { 'content-type': type } });
    expect((await post('x'.repeat(4_000_000))).status).toBe(413);
    expect((await post('{}', 'application/vnd.kubernetes.protobuf')).status).toBe(415);
    expect((await post('{')).status).toBe(400);
    expect((await fetch(`${server.urls[0]}/api/v1/%zz`)).status).toBe(400);
    const refused = await fetch(url, { headers: { accept: 'application/vnd.kubernetes.protobuf' } });
    expect(refused.status).toBe(406);
    expect(await refused.json()).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      code: 406,
      reason: 'NotAcceptable',
    });
  });

  it('speaks YAML', async () => {
    const { server } = await start();
    const url = `${server.urls[0]}/api/v1/namespaces/default/configmaps`;
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: yaml }\ndata: { a: b }\n';
    const type = { 'content-type': 'application/yaml', accept: 'application/yaml' };
    const created = await fetch(url, { method: 'POST', body, headers: type });
    expect([created.status, created.headers.get('content-type')]).toEqual([201, 'application/yaml']);
    expect(await created.text()).toContain('data:\n  a: b\n');
  });

  it('warns of fields that it drops', async () => {
    const { server, client } = await start();
    const names = { plural: 'things', kind: 'Thing' };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };
    await client.create(
      {
        group: 'apiextensions.k8s.io',
        version: 'v1',
        plural: 'customresourcedefinitions',
        kind: 'CustomResourceDefinition',
        namespaced: false,
      },
      {
        metadata: { name: 'things.example.org' },
        spec: {
          group: 'example.org',
          scope: 'Cluster',
          names,
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      },
    );
    const body = JSON.stringify({
      apiVersion: 'example.org/v1',
      kind: 'Thing',
      metadata: { name: 'a' },
      spec: { odd: 1 },
    });
    const url = `${server.urls[0]}/apis/example.org/v1/things`;
    const created = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    expect(created.headers.get('warning')).toBe('299 - "unknown field \\"spec.odd\\""');
  });

  it('ends watches when it closes, and can be started again', async () => {
    const { server, client } = await start();
    const stop = new AbortController();
    await client.create(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'before' } });
    const reflector = createReflector({
      client,
      resource: CONFIG_MAPS,
      project: ({ metadata }) => metadata.name,
      timings: { backoffMinMs: 20, backoffMaxMs: 50 },
    });
    const running = reflector.run(stop.signal);
    await reflector.whenSynced();
    expect([...reflector.values()]).toEqual(['before']);
    await server.close();
    const port = Number(server.urls[0]?.split(':').at(-1));
    const second = await startEmbeddedServer({ listen: [{ host: '127.0.0.1', port }] });
    cleanups.push(() => second.close());
    await second.cluster.client().create(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'after' } });
    // Another life of the server: nothing of what was remembered is valid.
    await expect.poll(() => [...reflector.values()], { timeout: 10_000 }).toEqual(['after']);
    stop.abort();
    await running;
  });

  it('cuts off a watcher that does not read', async () => {
    const { server, client } = await start();
    const socket = connectTcp(Number(server.urls[0]?.split(':').at(-1)), '127.0.0.1');
    let closed = false;
    socket.on('close', () => {
      closed = true;
    });
    socket.on('error', () => {});
    cleanups.push(() => void socket.destroy());
    socket.write('GET /api/v1/namespaces/default/configmaps?watch=true HTTP/1.1\r\nhost: a\r\n\r\n');
    socket.pause();
    await client.create(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'big' } });
    const patch = (n: number) => ({ type: 'merge', body: { data: { big: String(n).padEnd(900_000, 'x') } } }) as const;
    for (let n = 0; n < 90; n += 1) await client.patch(CONFIG_MAPS, { namespace: 'default', name: 'big' }, patch(n));
    socket.resume();
    await expect.poll(() => closed, { timeout: 10_000 }).toBe(true);
  });

  it('leaves nothing open when it can not listen', async () => {
    const { server } = await start();
    const port = Number(server.urls[0]?.split(':').at(-1));
    const second = startEmbeddedServer({ listen: [loopback, { host: '127.0.0.1', port }] });
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('closes when its signal aborts', async () => {
    const stop = new AbortController();
    const server = await startEmbeddedServer({ listen: [loopback] }, stop.signal);
    stop.abort();
    await server.close();
    await expect(fetch(`${server.urls[0]}/healthz`)).rejects.toThrow();
  });
});
