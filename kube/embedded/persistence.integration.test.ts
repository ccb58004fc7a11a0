/** An embedded server that keeps its objects in a file. Needs root for a file system that gets full. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { runKubeDifferential } from '../../test/conformance/kube/differential.ts';
import { runKubeConformance } from '../../test/conformance/kube/suite.ts';
import { createKubeClient } from '../client/client.ts';
import { connect } from '../client/connect.ts';
import { createCredentials } from '../config/credentials.ts';
import { createReflector } from '../reflector/reflector.ts';
import type { ReflectorObservation } from '../reflector/types.ts';
import { CONFIG_MAPS, EVENTS, LEASES, NAMESPACES, PODS, SERVICES } from '../resources.ts';
import type { Transport } from '../transport/types.ts';
import type { KubeClient } from '../types.ts';
import { watchEvents } from '../watch/watch-events.ts';
import { createEmbeddedCluster } from './cluster.ts';

let folder: string;
let files = 0;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'persistence-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const newFile = (): string => {
  files += 1;
  return join(folder, `objects-${files}`);
};

const open = (data: string) => {
  const cluster = createEmbeddedCluster({ data });
  cleanups.push(() => cluster.close());
  return { cluster, client: cluster.client() };
};

runKubeConformance({
  name: 'embedded, with a journal',
  bookmarkSeconds: 1,
  newServer: () => {
    const cluster = createEmbeddedCluster({ data: newFile() });
    return Promise.resolve({
      client: cluster.client(),
      compact: () => Promise.resolve(cluster.compact()),
      close: () => Promise.resolve(cluster.close()),
    });
  },
});

/** Every request meets a server that has just been started. */
const restartingTransport = (data: string): Transport => {
  let cluster = createEmbeddedCluster({ data });
  cleanups.push(() => cluster.close());
  return {
    send: async (request, signal) => {
      await cluster.settled();
      cluster.close();
      cluster = createEmbeddedCluster({ data });
      return await cluster.transport.send(request, signal);
    },
    close: () => {},
  };
};

it('a server that is started again before every request answers as one that is not', async () => {
  const reference = createEmbeddedCluster().client();
  const subject = createKubeClient({ transport: restartingTransport(newFile()) });
  const seeds = Array.from({ length: 8 }, (_, i) => i + 1);
  expect(await runKubeDifferential({ reference, subject, seeds, steps: 25 })).toEqual([]);
});

describe('a server that is started again', () => {
  it('has the same objects, to the byte', async () => {
    const data = newFile();
    const { cluster, client } = open(data);
    const metadata = { namespace: 'default', name: 'a' };
    const first = await client.create(CONFIG_MAPS, { metadata, data: { text: 'ü\n"\u2028\ud800' } });
    const spec = { ports: [{ port: 80, nodePort: 30_080 }], type: 'NodePort' };
    const service = await client.create(SERVICES, { metadata, spec });
    await client.create(CONFIG_MAPS, { metadata: { ...metadata, name: 'gone' } });
    await client.delete(CONFIG_MAPS, { ...metadata, name: 'gone' });
    const lists = async (from: KubeClient) =>
      await Promise.all([NAMESPACES, CONFIG_MAPS, SERVICES, PODS, LEASES, EVENTS].map((kind) => from.list(kind)));
    const before = await lists(client);
    cluster.close();
    const again = open(data).client;
    expect(await lists(again)).toEqual(before);
    expect(await again.get(CONFIG_MAPS, metadata)).toEqual(first);
    // What is derived from objects is there too: addresses and ports are not given twice.
    const second = await again.create(SERVICES, {
      metadata: { ...metadata, name: 'b' },
      spec: { ports: [{ port: 1 }] },
    });
    expect(second['spec']).not.toMatchObject({ clusterIP: Object(service['spec']).clusterIP });
    const taken = again.create(SERVICES, { metadata: { ...metadata, name: 'c' }, spec });
    await expect(taken).rejects.toMatchObject({ status: 422 });
  });

  it('goes on with a watch of before, and answers one of long before that it is too old', async () => {
    const data = newFile();
    const { cluster, client } = open(data);
    const { resourceVersion } = await client.list(CONFIG_MAPS);
    const metadata = { namespace: 'default', name: 'a' };
    await client.create(CONFIG_MAPS, { metadata });
    await client.delete(CONFIG_MAPS, metadata);
    cluster.close();
    const second = open(data);
    await second.client.create(CONFIG_MAPS, { metadata });
    const read = async (from: KubeClient): Promise<string[]> => {
      const types: string[] = [];
      for await (const { type } of watchEvents(await from.watch(CONFIG_MAPS, { resourceVersion }))) {
        types.push(type);
        if (types.length === 3 || type === 'ERROR') break;
      }
      return types;
    };
    expect(await read(second.client)).toEqual(['ADDED', 'DELETED', 'ADDED']);
    second.cluster.close();
    // It was rewritten at the start before this one.
    expect(await read(open(data).client)).toEqual(['ERROR']);
  });

  it('finishes what its controllers had to do', async () => {
    const data = newFile();
    const { cluster, client } = open(data);
    await client.create(NAMESPACES, { metadata: { name: 'n' } });
    const owner = await client.create(CONFIG_MAPS, { metadata: { namespace: 'n', name: 'owner' } });
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid };
    const owned = { namespace: 'default', name: 'owned' };
    await client.create(CONFIG_MAPS, { metadata: { ...owned, ownerReferences: [reference] } });
    await cluster.settled();
    // An owner in another namespace is none; the namespace waits for its content.
    await client.delete(NAMESPACES, { name: 'n' });
    cluster.close();
    const second = open(data);
    await second.cluster.settled();
    await expect(second.client.get(NAMESPACES, { name: 'n' })).rejects.toMatchObject({ status: 404 });
    expect((await second.client.list(CONFIG_MAPS)).items).toEqual([]);
  });

  it('leaves out what was being written when the server ended, and refuses a file of something else', async () => {
    const data = newFile();
    const { cluster, client } = open(data);
    await client.create(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'a' } });
    cluster.close();
    await appendFile(data, '{"put":"/configmaps","object":{"metadata":{"name":"b"');
    const second = open(data);
    expect((await second.client.list(CONFIG_MAPS)).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    second.cluster.close();
    await writeFile(data, 'hello\n');
    expect(() => createEmbeddedCluster({ data })).toThrow(expect.objectContaining({ code: 'ERR_KUBE_DATA' }));
    expect(await readFile(data, 'utf8')).toBe('hello\n');
  });
});

it('a change that finds no space is refused, and everything else stays', async () => {
  const small = await mkdtemp(join(folder, 'small-'));
  const run = promisify(execFile);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'none', small]);
  cleanups.push(() => run('umount', [small]));
  const data = join(small, 'objects');
  const { cluster, client } = open(data);
  const create = (name: string, size: number) =>
    client.create(CONFIG_MAPS, { metadata: { namespace: 'default', name }, data: { big: 'x'.repeat(size) } });
  await create('first', 10_000);
  await expect(create('big', 200_000)).rejects.toMatchObject({ status: 500 });
  await create('second', 10_000);
  const names = async (from: KubeClient) => (await from.list(CONFIG_MAPS)).items.map(({ metadata }) => metadata.name);
  expect(await names(client)).toEqual(['first', 'second']);
  cluster.close();
  expect(await names(open(data).client)).toEqual(['first', 'second']);
});

describe('a server that is killed', () => {
  const SERVER = `
    import { startEmbeddedServer } from './kube/embedded/server.ts';
    const [data, port] = process.argv.slice(1);
    const server = await startEmbeddedServer({ listen: [{ host: '127.0.0.1', port: Number(port) }], data });
    console.log(server.urls[0]);
  `;

  const spawnServer = async (data: string, port: string): Promise<{ child: ChildProcess; url: string }> => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', SERVER, data, port], {
      cwd: join(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    cleanups.push(() => void child.kill('SIGKILL'));
    const [url] = await once(createInterface(child.stdout), 'line');
    return { child, url: String(url) };
  };

  const clientOf = (server: string): KubeClient => {
    const credentials = createCredentials({}, { clock: systemClock });
    const client = connect({ server, namespace: 'default', credentials }, { userAgent: 'test' });
    cleanups.push(() => client.close());
    return client;
  };

  it('has lost nothing that it acknowledged, and mirrors go on without reading everything again', async () => {
    const data = newFile();
    let server = await spawnServer(data, '0');
    const port = new URL(server.url).port;
    const client = clientOf(server.url);
    const stop = new AbortController();
    const observed: ReflectorObservation[] = [];
    const reflector = createReflector({
      client,
      resource: CONFIG_MAPS,
      project: ({ metadata }) => metadata.resourceVersion,
      timings: { backoffMinMs: 200, backoffMaxMs: 400 },
      observe: (observation) => observed.push(observation),
    });
    const running = reflector.run(stop.signal);
    await reflector.whenSynced();
    const acknowledged = new Map<string, string>();
    let last = 0;
    const write = async (worker: number): Promise<void> => {
      for (let n = 0; !stop.signal.aborted; n += 1) {
        const metadata = { namespace: 'default', name: `w${worker}-${n % 20}` };
        const body = { metadata, data: { n: String(n), padding: 'x'.repeat(2000) } };
        const patch = { type: 'apply', body, fieldManager: 'test', force: true } as const;
        const object = await client.patch(CONFIG_MAPS, metadata, patch).catch(() => sleep(2));
        if (object === undefined) continue;
        const version = Number(object.metadata.resourceVersion);
        last = Math.max(last, version);
        acknowledged.set(`default/${metadata.name}`, String(version));
      }
    };
    const writers = [1, 2, 3].map(write);
    for (let kills = 0; kills < 5; kills += 1) {
      const before = last;
      await expect.poll(() => last, { timeout: 10_000 }).toBeGreaterThan(before + 100);
      server.child.kill('SIGKILL');
      await once(server.child, 'exit');
      const watches = () => observed.filter(({ kind }) => kind === 'watch-started').length;
      const started = watches();
      server = await spawnServer(data, port);
      // The next server has what is new since this one began: who has missed all of it reads everything again.
      await expect.poll(watches, { timeout: 10_000 }).toBeGreaterThan(started);
    }
    stop.abort();
    await Promise.all(writers);
    const { items } = await client.list(CONFIG_MAPS);
    const stored = new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    for (const [key, version] of acknowledged) {
      // A later write may have been made whose answer was lost.
      expect(Number(stored.get(key.slice('default/'.length)))).toBeGreaterThanOrEqual(Number(version));
    }
    await running;
    expect(observed.filter(({ kind }) => kind === 'listed')).toHaveLength(1);
    expect(observed.filter(({ kind }) => kind === 'relist')).toEqual([]);
  });

  it('leaves a file that does not grow without limit', async () => {
    const data = newFile();
    const { cluster, client } = open(data);
    const metadata = { namespace: 'default', name: 'a' };
    const body = (n: number) => ({ metadata, data: { big: String(n).padEnd(500_000, 'x') } });
    await client.create(CONFIG_MAPS, body(0));
    for (let n = 1; n < 80; n += 1) await client.patch(CONFIG_MAPS, metadata, { type: 'merge', body: body(n) });
    expect((await stat(data)).size).toBeLessThan(18 * 1024 * 1024);
    cluster.close();
    const again = await open(data).client.get(CONFIG_MAPS, metadata);
    expect(again['data']).toEqual(body(79).data);
    expect((await stat(data)).size).toBeLessThan(1024 * 1024);
  });
});
