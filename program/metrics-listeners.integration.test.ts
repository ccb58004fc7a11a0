import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startMetricsListeners } from './metrics-listeners.ts';

const run = promisify(execFile);
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'metrics-tls-'));
});
afterEach(() => rm(folder, { recursive: true }));

const certify = async (into: string, name: string): Promise<void> => {
  const files = ['-keyout', join(into, 'tls.key'), '-out', join(into, 'tls.crt')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await run('openssl', [
    'req',
    '-x509',
    ...kind,
    ...files,
    '-subj',
    `/CN=${name}`,
    '-addext',
    `subjectAltName=DNS:${name}`,
  ]);
};

const answers = {
  contentType: 'text/plain',
  metrics: () => Promise.resolve('udn_test 1\n'),
  notAlive: () => [],
  notReady: () => ['not yet'],
  access: (_path: string, authorization?: string) =>
    Promise.resolve(authorization === 'Bearer prometheus' ? ('allowed' as const) : ('unauthenticated' as const)),
};
const LOOPBACK = { host: '127.0.0.1', port: 0 };

const get = async (port: number, ca: string, servername: string) => {
  const headers = { authorization: 'Bearer prometheus' };
  const asked = request({ port, host: '127.0.0.1', path: '/metrics', ca, servername, headers, agent: false }).end();
  const [response] = await once(asked, 'response');
  const name = (response.socket as TLSSocket).getPeerCertificate().subject.CN;
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode as number, text, name };
};

it('serves the same with TLS, and takes the next certificate when the folder has it', async () => {
  // As the kubelet mounts a Secret: the files are links through a link that it replaces.
  await run('mkdir', [join(folder, '1'), join(folder, '2')]);
  await certify(join(folder, '1'), 'first.test');
  await certify(join(folder, '2'), 'second.test');
  await symlink('1', join(folder, '..data'));
  for (const name of ['tls.crt', 'tls.key']) await symlink(`..data/${name}`, join(folder, name));
  const stale: unknown[] = [];
  const onStale = Promise.withResolvers<void>();
  const listeners = await startMetricsListeners(
    { plain: LOOPBACK, tls: { address: LOOPBACK, folder } },
    answers,
    (error) => {
      stale.push(error);
      onStale.resolve();
    },
  );
  try {
    const { port = 0, tlsPort = 0 } = listeners;
    const first = await readFile(join(folder, '1', 'tls.crt'), 'utf8');
    const second = await readFile(join(folder, '2', 'tls.crt'), 'utf8');
    expect(await get(tlsPort, first, 'first.test')).toEqual({ status: 200, text: 'udn_test 1\n', name: 'first.test' });
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(401);
    await expect(get(tlsPort, second, 'second.test')).rejects.toThrow();
    await symlink('2', join(folder, '..new'));
    await rename(join(folder, '..new'), join(folder, '..data'));
    await expect.poll(() => get(tlsPort, second, 'second.test').catch(String)).toMatchObject({ name: 'second.test' });
    await rm(join(folder, 'tls.crt'));
    await writeFile(join(folder, 'tls.crt'), first);
    await onStale.promise;
    expect(String(stale.at(-1))).toMatch(/key values mismatch|ENOENT/);
    expect(await get(tlsPort, second, 'second.test')).toMatchObject({ name: 'second.test' });
  } finally {
    await listeners.close();
  }
});

it('does not start without a certificate, and leaves no port open', async () => {
  await expect(
    startMetricsListeners({ plain: LOOPBACK, tls: { address: LOOPBACK, folder } }, answers, () => {}),
  ).rejects.toThrow('tls.crt');
});
