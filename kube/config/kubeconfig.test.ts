import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createCredentials } from './credentials.ts';
import { connectionOf, mergeKubeconfigs, parseKubeconfig } from './kubeconfig.ts';
import { loadConnection } from './load.ts';

const clock = createFakeClock();
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const CONFIG = `
apiVersion: v1
kind: Config
current-context: dev
clusters:
  - name: dev
    cluster:
      server: https://dev.example:6443/
      certificate-authority-data: ${base64('CA')}
      tls-server-name: api.dev
  - name: plain
    cluster: { server: 'http://127.0.0.1:8080' }
users:
  - name: alice
    user: { token: secret }
  - name: bob
    user: { client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')} }
  - name: carol
    user: { username: carol, password: pw, as: root, as-groups: [one, two] }
  - name: dave
contexts:
  - name: dev
    context: { cluster: dev, user: alice, namespace: team }
  - name: bob
    context: { cluster: dev, user: bob }
  - name: carol
    context: { cluster: plain, user: carol }
  - name: dave
    context: { cluster: plain, user: dave }
  - name: nobody
    context: { cluster: plain }
  - name: lost
    context: { cluster: gone, user: alice }
`;

const connection = (context?: string) => connectionOf(parseKubeconfig(CONFIG, '/etc/kubeconfig'), { context, clock });

describe('a kubeconfig', () => {
  it('says where the server is and how to trust it', async () => {
    const { server, namespace, credentials } = connection();
    expect([server, namespace]).toEqual(['https://dev.example:6443', 'team']);
    expect(await credentials.tls()).toEqual({ ca: 'CA', servername: 'api.dev', rejectUnauthorized: true });
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer secret' });
  });

  it('gives certificates, passwords and impersonation', async () => {
    expect(await connection('bob').credentials.tls()).toMatchObject({ cert: 'CERT', key: 'KEY' });
    expect(await connection('carol').credentials.headers()).toEqual({
      authorization: `Basic ${base64('carol:pw')}`,
      'impersonate-user': 'root',
      'impersonate-group': ['one', 'two'],
    });
    for (const context of ['dave', 'nobody']) expect(await connection(context).credentials.headers()).toEqual({});
    expect(connection('nobody').namespace).toBe('default');
  });

  it.each([
    ['no context', 'clusters: []', /no current-context/],
    ['an unknown context', 'current-context: x', /no context "x"/],
    ['no YAML', '{', /is not YAML/],
    ['a list', '[]', /kubeconfig file: .*expected object/s],
    ['a wrong field', 'clusters: [{ name: a, cluster: { server: 1 } }]', /clusters\[0\]\.cluster\.server/],
    [
      'a removed plugin',
      'current-context: a\nclusters: [{name: a, cluster: {server: "http://a"}}]\nusers: [{name: a, user: {auth-provider: {name: gcp}}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]',
      /user "a" has an auth-provider/,
    ],
  ])('with %s is refused', (_, text, message) => {
    const parse = () => connectionOf(parseKubeconfig(text, 'file'), { clock });
    expect(parse).toThrow(message);
    expect(parse).toThrow(expect.objectContaining({ code: 'ERR_KUBE_CONFIG' }));
  });

  it('without its cluster is refused', () => {
    expect(() => connection('lost')).toThrow(/no cluster "gone"/);
  });

  it('is merged with others, the first wins', () => {
    const file = (name: string, server: string, current = '') =>
      parseKubeconfig(
        `{current-context: '${current}', clusters: [{name: c, cluster: {server: '${server}'}}], contexts: [{name: ${name}, context: {cluster: c}}]}`,
        name,
      );
    const merged = mergeKubeconfigs([file('one', 'http://one'), file('two', 'http://two', 'two')]);
    expect(merged.currentContext).toBe('two');
    expect([...merged.contexts.keys()].sort()).toEqual(['one', 'two']);
    expect(merged.clusters.get('c')?.server).toBe('http://one');
  });
});

describe('files', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const put = async (name: string, content: string): Promise<string> => {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  };
  const simple = (server: string, user = '{}') =>
    `{current-context: a, clusters: [{name: a, cluster: {server: '${server}'}}], users: [{name: a, user: ${user}}], contexts: [{name: a, context: {cluster: a, user: a}}]}`;

  it('are found in the order of kubectl', async () => {
    const [explicit, fromEnv] = [
      await put('explicit', simple('http://explicit')),
      await put('env', simple('http://env')),
    ];
    await mkdir(join(folder, '.kube'));
    await put('.kube/config', simple('http://home'));
    const inPod = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const serverOf = async (options: Partial<Parameters<typeof loadConnection>[0]>) =>
      (await loadConnection({ env: { HOME: folder }, serviceAccountFolder: folder, ...options })).server;
    expect(await serverOf({})).toBe('http://home');
    await put('token', 'from-pod');
    expect(await serverOf({ env: { HOME: folder, ...inPod } })).toBe('https://[fd00::1]:443');
    const env = { HOME: folder, ...inPod, KUBECONFIG: `${folder}/missing:${fromEnv}` };
    expect(await serverOf({ env })).toBe('http://env');
    expect(await serverOf({ env, kubeconfig: explicit })).toBe('http://explicit');
    await expect(serverOf({ kubeconfig: `${folder}/none` })).rejects.toThrow(/can't read the kubeconfig/);
    await expect(serverOf({ env: { HOME: `${folder}/none` } })).rejects.toThrow(/no API server is known/);
  });

  it('of a service account are the credentials of a pod', async () => {
    await put('token', 'pod-token\n');
    await put('ca.crt', 'POD CA');
    await put('namespace', 'kube-system\n');
    const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };
    const { server, namespace, credentials } = await loadConnection({ env, serviceAccountFolder: folder, clock });
    expect([server, namespace]).toEqual(['https://10.96.0.1:443', 'kube-system']);
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer pod-token' });
    expect(await credentials.tls()).toMatchObject({ ca: 'POD CA' });
  });

  it('in a kubeconfig are relative to it', async () => {
    await put('my-token', 'relative');
    const path = await put('config', simple('http://a', '{tokenFile: my-token}'));
    const { credentials } = await loadConnection({ kubeconfig: path, env: {} });
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer relative' });
  });

  it('with a token are read again after a minute, or when the server refuses it', async () => {
    const tokenFile = await put('token', 'one');
    const credentials = createCredentials({ tokenFile }, { clock });
    const token = async () => (await credentials.headers())['authorization'];
    expect(await token()).toBe('Bearer one');
    await put('token', 'two');
    expect(await token()).toBe('Bearer one');
    await clock.advance(60_000);
    expect(await token()).toBe('Bearer two');
    await put('token', 'three');
    expect(credentials.refresh()).toBe(true);
    expect(await token()).toBe('Bearer three');
  });

  it('with certificates are a new identity only when they change', async () => {
    const cert = { file: await put('cert', 'C1') };
    const credentials = createCredentials({ cert, key: { text: 'K' } }, { clock });
    const first = await credentials.tls();
    await clock.advance(60_000);
    expect(await credentials.tls()).toBe(first);
    await put('cert', 'C2');
    await clock.advance(60_000);
    expect(await credentials.tls()).toMatchObject({ cert: 'C2', key: 'K' });
  });

  it('that are missing are named', async () => {
    const credentials = createCredentials({ tokenFile: join(folder, 'none') }, { clock });
    await expect(credentials.headers()).rejects.toMatchObject({
      code: 'ERR_KUBE_CONFIG',
      message: expect.stringContaining('none'),
    });
  });
});

it('a static token is not asked for again', () => {
  expect(createCredentials({ token: 'static' }, { clock }).refresh()).toBe(false);
});
