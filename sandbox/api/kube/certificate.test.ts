import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createAuthority, createSigningKey } from './certificate.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const authority = createAuthority('test-ca', NOW);
const root = new X509Certificate(authority.certificate);

describe('an authority', () => {
  it('signs itself and may sign others', () => {
    expect(root.ca).toBe(true);
    expect(root.subject).toBe('CN=test-ca');
    expect(root.verify(root.publicKey)).toBe(true);
    expect(root.checkPrivateKey(createPrivateKey(authority.key))).toBe(true);
    expect(new Date(root.validTo).toISOString()).toBe('2027-01-02T03:04:05.000Z');
  });

  it('issues what names a user and its groups', () => {
    const { certificate, key } = authority.issue({
      commonName: 'system:node:node-1',
      organizations: ['system:nodes', 'b'],
    });
    const issued = new X509Certificate(certificate);
    expect(issued.subject).toBe('O=system:nodes\nO=b\nCN=system:node:node-1');
    expect(issued.checkIssued(root)).toBe(true);
    expect(issued.verify(root.publicKey)).toBe(true);
    expect(issued.ca).toBe(false);
    expect(issued.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(issued.subjectAltName).toBeUndefined();
    expect(issued.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  });

  it('issues what names a server', () => {
    const names = ['kubernetes.default.svc', '172.20.0.1', 'fd00:172:20::1'];
    const issued = new X509Certificate(authority.issue({ commonName: 'kube-apiserver' }, names).certificate);
    expect(issued.checkHost('kubernetes.default.svc')).toBe('kubernetes.default.svc');
    expect(issued.checkIP('172.20.0.1')).toBe('172.20.0.1');
    expect(issued.checkIP('fd00:172:20::1')).toBe('fd00:172:20::1');
    expect(issued.checkIP('172.20.0.2')).toBeUndefined();
  });

  it('makes serial numbers of its own for each', () => {
    const serials = Array.from({ length: 50 }, () => authority.issue({ commonName: 'a' }).certificate).map(
      (certificate) => new X509Certificate(certificate).serialNumber,
    );
    expect(new Set(serials).size).toBe(serials.length);
  });

  it('does not verify what another one signed', () => {
    const other = createAuthority('test-ca', NOW);
    const issued = new X509Certificate(other.issue({ commonName: 'a' }).certificate);
    expect(issued.verify(root.publicKey)).toBe(false);
  });
});

it('both ends of TLS take them', async () => {
  const now = createAuthority('ca', Date.now());
  const serverSide = now.issue({ commonName: 'server' }, ['localhost']);
  const clientSide = now.issue({ commonName: 'someone', organizations: ['group'] });
  const server = createServer({
    ...{ ca: now.certificate, cert: serverSide.certificate, key: serverSide.key },
    ...{ requestCert: true, rejectUnauthorized: true },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    const { port } = server.address() as AddressInfo;
    const client = tlsConnect({
      ...{ host: '127.0.0.1', port, servername: 'localhost' },
      ...{ ca: now.certificate, cert: clientSide.certificate, key: clientSide.key },
    });
    const [[socket]] = await Promise.all([accepted, once(client, 'secureConnect')]);
    expect(socket.getPeerCertificate().subject).toMatchObject({ CN: 'someone', O: 'group' });
    client.destroy();
    socket.destroy();
  } finally {
    server.close();
  }
});

it('a signing key is one of P-256', () => {
  expect(createPrivateKey(createSigningKey()).asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
});
