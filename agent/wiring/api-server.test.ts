import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { removeSockets } from '../cleanup/left-behind.ts';
import { findApiServer, serverFile } from './api-server.ts';

let folder: string;
let logged: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'api-server-'));
  logged = [];
});
afterEach(() => rm(folder, { recursive: true }));

const log = {
  info: (_: unknown, message?: string) => void logged.push(`info: ${message}`),
  warn: (_: unknown, message?: string) => void logged.push(`warn: ${message}`),
};
const statusSocket = () => join(folder, 'agent.sock');
const published = () => readFile(serverFile(statusSocket()), 'utf8').catch(() => undefined);

const find = (host: string, kubeletKubeconfig: string | undefined = join(folder, 'kubelet.conf')) => {
  const cluster = parseClusterConfig({ serviceSubnets: '10.96.0.0/16,fd00:10:96::/112' });
  return findApiServer({ kubeletKubeconfig, statusSocket: statusSocket(), cluster }, log)({ host, port: 443 });
};
const putKubeconfig = (server: string) =>
  writeFile(
    join(folder, 'kubelet.conf'),
    `{current-context: a, clusters: [{name: a, cluster: {server: '${server}'}}], contexts: [{name: a, context: {cluster: a}}]}`,
  );

it.each(['10.96.0.1', 'fd00:10:96::1'])(
  'instead of the ClusterIP %s it is the kubelet’s, and published',
  async (ip) => {
    await putKubeconfig('https://172.20.0.1:6443');
    expect(await find(ip)).toBe('https://172.20.0.1:6443');
    expect(await published()).toBe('https://172.20.0.1:6443\n');
    await removeSockets({ cniSocket: join(folder, 'cni.sock'), statusSocket: statusSocket() });
    expect(await published()).toBeUndefined();
  },
);

it('an address that is set is kept, and one of before no longer published', async () => {
  await putKubeconfig('https://172.20.0.1:6443');
  await find('10.96.0.1');
  expect(await find('172.20.0.99')).toBeUndefined();
  expect(await published()).toBeUndefined();
});

it('where the kubelet has no such file the ClusterIP is tried', async () => {
  expect(await find('10.96.0.1')).toBeUndefined();
  expect(logged).toEqual([]);
});

it('a file that can’t be used is logged, and the ClusterIP tried', async () => {
  await putKubeconfig('http://172.20.0.1:8080');
  expect(await find('10.96.0.1')).toBeUndefined();
  expect(logged).toEqual(["warn: the kubelet's kubeconfig names no usable API server"]);
});

it('readers get the folder of the address, and not the one of the sockets', async () => {
  await putKubeconfig('https://172.20.0.1:6443');
  const socket = join(folder, 'run', 'agent.sock');
  const cluster = parseClusterConfig({ serviceSubnets: '10.96.0.0/16' });
  const kubeletKubeconfig = join(folder, 'kubelet.conf');
  await findApiServer({ kubeletKubeconfig, statusSocket: socket, cluster }, log)({ host: '10.96.0.1', port: 443 });
  const modes = [join(folder, 'run'), join(folder, 'run', 'api-server'), serverFile(socket)].map(async (path) =>
    ((await stat(path)).mode & 0o777).toString(8),
  );
  expect(await Promise.all(modes)).toEqual(['700', '755', '644']);
});

it('what can’t be published is logged, and used', async () => {
  await putKubeconfig('https://172.20.0.1:6443');
  await writeFile(join(folder, 'api-server'), 'a file');
  expect(await find('10.96.0.1')).toBe('https://172.20.0.1:6443');
  expect(logged[0]).toBe('warn: the address of the API server was not published on the node');
});
