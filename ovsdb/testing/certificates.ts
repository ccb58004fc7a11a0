/** Certificates for tests, made by openssl(1): an authority and two that it has signed. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TlsCredentials } from '../wire/dial.ts';

const run = promisify(execFile);

export interface TestCertificates {
  /** Arguments of ovsdb-server(1). */
  readonly serverArgs: readonly string[];
  readonly client: TlsCredentials;
}

/** @param folder where the files are written */
export const makeCertificates = async (folder: string): Promise<TestCertificates> => {
  const file = (name: string): string => join(folder, name);
  await openssl([
    ...REQUEST,
    '-x509',
    '-days',
    '1',
    '-subj',
    '/CN=test authority',
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.pem'),
  ]);
  for (const name of ['server', 'client']) {
    await openssl([
      ...REQUEST,
      '-subj',
      `/CN=test ${name}`,
      '-keyout',
      file(`${name}.key`),
      '-out',
      file(`${name}.csr`),
    ]);
    const authority = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial'];
    await openssl([
      'x509',
      '-req',
      '-days',
      '1',
      '-in',
      file(`${name}.csr`),
      '-out',
      file(`${name}.pem`),
      ...authority,
    ]);
  }
  const [privateKey, certificate, caCertificate] = await Promise.all(
    ['client.key', 'client.pem', 'ca.pem'].map((name) => readFile(file(name), 'utf8')),
  );
  return {
    serverArgs: [
      `--private-key=${file('server.key')}`,
      `--certificate=${file('server.pem')}`,
      `--ca-cert=${file('ca.pem')}`,
    ],
    client: { privateKey: privateKey ?? '', certificate: certificate ?? '', caCertificate: caCertificate ?? '' },
  };
};

const REQUEST = ['req', '-newkey', 'rsa:2048', '-nodes', '-sha256'];

const openssl = async (args: readonly string[]): Promise<void> => {
  await run('openssl', args);
};
