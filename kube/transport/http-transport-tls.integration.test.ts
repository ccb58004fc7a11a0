/** Certificates: whom the client trusts, who it is, and what happens when that changes. */
import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createHttpTransport } from './http-transport.ts';
import { get, text, useHarness } from './testing/harness.ts';

const { pathOf, cleanups, listen, serve, transportTo } = useHarness();

describe('TLS', () => {
  const run = promisify(execFile);
  const openssl = (...args: string[]) => run('openssl', args, { cwd: pathOf('.') });
  const sign = async (name: string) => {
    await openssl(
      'req',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${name}`,
    );
    await writeFile(pathOf('san.cnf'), 'subjectAltName=IP:127.0.0.1,DNS:api.test');
    const ca = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'];
    await openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      ...ca,
      '-days',
      '2',
      '-out',
      `${name}.crt`,
      '-extfile',
      'san.cnf',
    );
  };
  const file = (name: string) => ({ file: pathOf(name) });

  beforeAll(async () => {
    await openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      'ca.key',
      '-out',
      'ca.crt',
      '-days',
      '2',
      '-subj',
      '/CN=ca',
    );
    for (const name of ['server', 'first', 'second']) await sign(name);
  });

  const serveTls = async () => {
    const read = (name: string) => readFile(pathOf(name));
    const options = {
      ca: await read('ca.crt'),
      cert: await read('server.crt'),
      key: await read('server.key'),
      requestCert: true,
    };
    const server = createTlsServer({ ...options, rejectUnauthorized: false }, (incoming, outgoing) => {
      const peer = incoming.socket instanceof TLSSocket ? incoming.socket.getPeerCertificate().subject?.CN : undefined;
      outgoing.end(String(peer));
    });
    cleanups.push(() => server.closeAllConnections());
    return `https://127.0.0.1:${await listen(server)}`;
  };

  it('trusts the given authority and no other', async () => {
    const server = await serveTls();
    expect(await text(await get(transportTo(server, { ca: file('ca.crt') })))).toBe('undefined');
    expect(await text(await get(transportTo(server, { ca: file('ca.crt'), servername: 'api.test' })))).toBe(
      'undefined',
    );
    expect(await text(await get(transportTo(server, { insecure: true })))).toBe('undefined');
    await expect(get(transportTo(server))).rejects.toMatchObject({ code: 'ERR_KUBE_NETWORK' });
    const other = transportTo(server, { ca: file('ca.crt'), servername: 'other.test' });
    await expect(get(other)).rejects.toMatchObject({ code: 'ERR_KUBE_NETWORK' });
  });

  it('shows a client certificate, and a new one when the file is replaced', async () => {
    const clock = createFakeClock();
    const replace = async (name: string) => {
      for (const part of ['crt', 'key']) await cp(pathOf(`${name}.${part}`), pathOf(`client.${part}`));
    };
    await replace('first');
    const server = await serveTls();
    const sources = { ca: file('ca.crt'), cert: file('client.crt'), key: file('client.key') };
    const transport = transportTo(server, sources, undefined, clock);
    expect(await text(await get(transport))).toBe('first');
    await replace('second');
    expect(await text(await get(transport))).toBe('first');
    await clock.advance(61_000);
    expect(await text(await get(transport))).toBe('second');
  });
});

it('new certificates leave requests under way alone', async () => {
  const slow: ServerResponse[] = [];
  const server = await serve((incoming, outgoing) => {
    outgoing.write('begin');
    if (incoming.url === '/slow') slow.push(outgoing);
    else outgoing.end();
  });
  // Whoever asks gets other material than before.
  const credentials = { headers: () => Promise.resolve({}), tls: () => Promise.resolve({}), refresh: () => false };
  const transport = createHttpTransport({ connection: { server, namespace: 'default', credentials } });
  cleanups.push(() => transport.close());
  const requests = await Promise.all(
    [false, true].map((streaming) => transport.send({ method: 'GET', path: '/slow', headers: {}, streaming })),
  );
  expect(await text(await get(transport))).toBe('begin');
  for (const outgoing of slow) outgoing.end(', end');
  for (const request of requests) expect(await text(request)).toBe('begin, end');
});
