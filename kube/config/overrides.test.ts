import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { connectionOf, mergeKubeconfigs, parseKubeconfig } from './kubeconfig.ts';
import { loadConnection } from './load.ts';
import type { ConnectionOverrides } from './overrides.ts';

const clock = createFakeClock();
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const CONFIG = `
current-context: dev
clusters:
  - name: dev
    cluster:
      server: https://dev.example:6443
      certificate-authority-data: ${base64('CA')}
      tls-server-name: api.dev
  - { name: test, cluster: { server: 'https://test.example' } }
users:
  - { name: alice, user: { tokenFile: /nonexistent/token } }
  - { name: bob, user: { client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')}, token: of-bob } }
  - { name: carol, user: { username: carol, password: pw, as: root, as-uid: '7', as-groups: [one] } }
  - { name: plugin, user: { exec: { command: /nonexistent/plugin } } }
contexts:
  - { name: dev, context: { cluster: dev, user: alice, namespace: team } }
  - { name: bob, context: { cluster: dev, user: bob } }
  - { name: carol, context: { cluster: dev, user: carol } }
  - { name: plugin, context: { cluster: dev, user: plugin } }
`;
const config = parseKubeconfig(CONFIG, '/etc/kubeconfig');

const asked = async (overrides: ConnectionOverrides, context?: string) => {
  const { server, namespace, credentials } = connectionOf(config, { context, overrides, clock });
  return { server, namespace, headers: await credentials.headers(), tls: await credentials.tls() };
};
const refusal = (overrides: ConnectionOverrides) => () => connectionOf(config, { overrides, clock });

describe('instead of what the context says', () => {
  it('another cluster and another user of the file, in the same namespace', async () => {
    expect(await asked({ cluster: 'test', user: 'bob' })).toEqual({
      server: 'https://test.example',
      namespace: 'team',
      headers: { authorization: 'Bearer of-bob' },
      tls: { cert: 'CERT', key: 'KEY', rejectUnauthorized: true },
    });
    expect(refusal({ cluster: 'none' })).toThrow('the kubeconfig has no cluster "none"');
    expect(refusal({ user: 'none' })).toThrow('the kubeconfig has no user "none"');
  });

  it('another server, whose certificate has another name', async () => {
    const { server, tls } = await asked({ server: 'https://10.0.0.1:6443/', user: 'bob' });
    expect(server).toBe('https://10.0.0.1:6443');
    expect(tls).toMatchObject({ ca: 'CA', servername: undefined });
    expect((await asked({ server: 'https://10.0.0.1', tlsServerName: 'api', user: 'bob' })).tls.servername).toBe('api');
  });

  it('no verification of the server, and then no authority either', async () => {
    const { tls } = await asked({ insecureSkipTlsVerify: true, user: 'bob' });
    expect(tls).toMatchObject({ rejectUnauthorized: false, ca: undefined });
    expect(refusal({ insecureSkipTlsVerify: true, certificateAuthority: '/ca' })).toThrow('TLS is not verified');
    const missing = asked({ certificateAuthority: '/nonexistent/ca', user: 'bob' });
    await expect(missing).rejects.toThrow('/nonexistent/ca');
  });

  it('a token, whatever the user would have said: no file is read, no plugin is run', async () => {
    for (const context of ['dev', 'bob', 'carol', 'plugin']) {
      expect((await asked({ token: 'mine' }, context)).headers).toMatchObject({ authorization: 'Bearer mine' });
    }
    await expect(asked({})).rejects.toThrow('/nonexistent/token');
  });

  it('a client certificate of a file', async () => {
    await expect(asked({ clientCertificate: '/nonexistent/cert' }, 'bob')).rejects.toThrow('/nonexistent/cert');
    await expect(asked({ clientKey: '/nonexistent/key' }, 'bob')).rejects.toThrow('/nonexistent/key');
  });

  it('somebody else, with the groups and the UID that are given and no others', async () => {
    expect((await asked({}, 'carol')).headers).toMatchObject({ 'impersonate-uid': '7', 'impersonate-group': ['one'] });
    const { headers } = await asked({ as: 'eve', asGroups: ['a', 'b'] }, 'carol');
    expect(headers).toMatchObject({ 'impersonate-user': 'eve', 'impersonate-group': ['a', 'b'] });
    expect(headers).not.toHaveProperty('impersonate-uid');
    expect((await asked({ as: 'eve', asUid: '9' }, 'carol')).headers).not.toHaveProperty('impersonate-group');
    for (const without of [{ asGroups: ['a'] }, { asUid: '9' }]) expect(refusal(without)).toThrow('--as');
  });
});

it('who names a server needs no kubeconfig', async () => {
  const env = { HOME: '/nonexistent' };
  const { server, namespace, credentials } = await loadConnection({
    env,
    overrides: { server: 'http://127.0.0.1:8080', token: 't' },
  });
  expect([server, namespace, await credentials.headers()]).toEqual([
    'http://127.0.0.1:8080',
    'default',
    { authorization: 'Bearer t' },
  ]);
  await expect(loadConnection({ env, overrides: { as: 'eve' } })).rejects.toThrow('no API server is known');
});

it('a file without a current context is enough for who names a cluster of it', () => {
  const bare = parseKubeconfig('{clusters: [{name: c, cluster: {server: "http://c"}}]}', 'bare');
  expect(connectionOf(bare, { overrides: { cluster: 'c' }, clock }).server).toBe('http://c');
  expect(() => connectionOf(mergeKubeconfigs([]), { clock })).toThrow('no current-context');
});

it('a pod’s own account is taken as it is: who is somebody else says where', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'account-'));
  await writeFile(join(folder, 'token'), 'of-the-pod');
  const env = { HOME: '/nonexistent', KUBERNETES_SERVICE_HOST: '10.96.0.1' };
  const options = { env, serviceAccountFolder: folder };
  try {
    expect((await loadConnection(options)).server).toBe('https://10.96.0.1:443');
    await expect(loadConnection({ ...options, overrides: { as: 'eve' } })).rejects.toThrow('no API server is known');
    const { server } = await loadConnection({ ...options, overrides: { as: 'eve', server: 'https://10.96.0.1' } });
    expect(server).toBe('https://10.96.0.1');
  } finally {
    await rm(folder, { recursive: true });
  }
});
