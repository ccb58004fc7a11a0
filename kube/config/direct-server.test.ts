import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseCidr } from '../../net/cidr.ts';
import { awaitPublishedServer, isClusterIp, publishServer, readKubeletServer } from './direct-server.ts';
import { loadConnection } from './load.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'direct-server-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('a ClusterIP is an address of the Services’ subnets, and no other address or name', () => {
  const subnets = ['10.96.0.0/16', 'fd00:10:96::/112'].map(parseCidr);
  const known = ['10.96.0.1', 'fd00:10:96::1', '172.20.0.1', 'fd00::1', 'api.example'];
  expect(known.map((host) => isClusterIp(host, subnets))).toEqual([true, true, false, false, false]);
});

describe('the kubeconfig of a kubelet', () => {
  const put = async (cluster: string, rest = 'contexts: [{name: a, context: {cluster: a}}]'): Promise<string> => {
    const file = join(folder, 'kubelet.conf');
    await writeFile(file, `{current-context: a, clusters: [{name: a, cluster: ${cluster}}], ${rest}}`);
    return file;
  };

  it.each([
    ["{server: 'https://172.20.0.1:6443'}", 'https://172.20.0.1:6443'],
    ["{server: 'https://[fd00::1]:6443/'}", 'https://[fd00::1]:6443'],
    ["{server: 'https://kind-control-plane:6443'}", 'https://kind-control-plane:6443'],
  ])('%s', async (cluster, server) => expect(await readKubeletServer(await put(cluster))).toBe(server));

  it.each([
    ["{server: 'http://172.20.0.1:8080'}", /is not an https URL/],
    ["{server: 'https://a', proxy-url: 'http://p'}", /set KUBERNETES_SERVICE_HOST instead/],
    ["{server: 'https://a', tls-server-name: b}", /set KUBERNETES_SERVICE_HOST instead/],
    ['{}', /server/],
    ['[', /is not YAML/],
  ])('%s is refused', async (cluster, message) => {
    await expect(readKubeletServer(await put(cluster))).rejects.toThrow(message);
  });

  it('without the cluster of its context is refused', async () => {
    const file = await put("{server: 'https://a'}", 'contexts: [{name: a, context: {cluster: b}}]');
    await expect(readKubeletServer(file)).rejects.toThrow('names no cluster');
  });

  it('that does not exist says nothing', async () =>
    expect(await readKubeletServer(join(folder, 'none'))).toBeUndefined());

  it('that is a folder is refused', async () =>
    await expect(readKubeletServer(folder)).rejects.toThrow(/can't read .*EISDIR/));
});

describe('in a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00:10:96::1', KUBERNETES_SERVICE_PORT: '444' };
  const serverWith = async (found: string | undefined): Promise<unknown[]> => {
    await writeFile(join(folder, 'token'), 'x');
    const asked: unknown[] = [];
    const findServer = (service: unknown): Promise<string | undefined> => {
      asked.push(service);
      return Promise.resolve(found);
    };
    const { server } = await loadConnection({ env, serviceAccountFolder: folder, findServer });
    return [...asked, server];
  };

  it('the address that is found is used instead of the Service’s', async () => {
    const service = { host: 'fd00:10:96::1', port: 444 };
    expect(await serverWith('https://172.20.0.1:6443')).toEqual([service, 'https://172.20.0.1:6443']);
    expect(await serverWith(undefined)).toEqual([service, 'https://[fd00:10:96::1]:444']);
  });
});

describe('the published address', () => {
  const never = new AbortController().signal;
  /** Nothing listens on it: the discard port of this host. */
  const silent = { host: '127.0.0.1', port: 9 };
  const fileOf = (): string => join(folder, 'api-server', 'url');

  it('is readable by everybody, replaced, and removed', async () => {
    await publishServer(fileOf(), 'https://a:1');
    await publishServer(fileOf(), 'https://b:2');
    expect(await readFile(fileOf(), 'utf8')).toBe('https://b:2\n');
    const modes = await Promise.all([fileOf(), dirname(fileOf())].map(async (path) => (await stat(path)).mode & 0o777));
    expect(modes).toEqual([0o644, 0o755]);
    await publishServer(fileOf(), undefined);
    await publishServer(fileOf(), undefined);
    expect(await readdir(dirname(fileOf()))).toEqual([]);
  });

  it('is used when it is there, without a look at the Service', async () => {
    await publishServer(fileOf(), 'https://a:1');
    expect(await awaitPublishedServer(fileOf(), silent, { signal: never, patienceMs: 10_000 })).toBe('https://a:1');
  });

  it('is waited for', async () => {
    await mkdir(dirname(fileOf()));
    const found = awaitPublishedServer(fileOf(), silent, { signal: never, patienceMs: 10_000 });
    await writeFile(fileOf(), 'not a URL');
    await publishServer(fileOf(), 'https://a:1');
    expect(await found).toBe('https://a:1');
  });

  it.each(['with the folder', 'without the folder'])('is not needed where the Service answers, %s', async (which) => {
    if (which === 'with the folder') await mkdir(dirname(fileOf()));
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const service = { host: '127.0.0.1', port };
    expect(await awaitPublishedServer(fileOf(), service, { signal: never, patienceMs: 10_000 })).toBeUndefined();
    await new Promise((resolve) => server.close(resolve));
  });

  it('that does not come in time is an error that says what to set, and the end of the program is not', async () => {
    const options = { signal: never, patienceMs: 20 };
    await expect(awaitPublishedServer(fileOf(), silent, options)).rejects.toThrow(
      /127\.0\.0\.1:9 does not answer, and no agent of this node has written .*: set KUBERNETES_SERVICE_HOST/,
    );
    const stopped = { signal: AbortSignal.abort(new Error('stopped')), patienceMs: 10_000 };
    await expect(awaitPublishedServer(fileOf(), silent, stopped)).rejects.toThrow('stopped');
  });
});
