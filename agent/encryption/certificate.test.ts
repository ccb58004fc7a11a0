import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { createAuthority } from '../../sandbox/api/kube/certificate.ts';
import { type CertificateInputs, certificateProblem } from './certificate.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const NAME = '11111111-2222-3333-4444-555555555555';
const paths = { certificate: '/certs/node.pem', privateKey: '/private/node.pem', authority: '/cacerts/ca.pem' };

const authority = createAuthority('tunnels', NOW);
const other = createAuthority('tunnels', NOW);
const own = authority.issue({ commonName: NAME, organizations: ['a'] }, [NAME], 'rsa');

const inputs = (changes: Partial<Record<keyof typeof paths, string | { error: string }>> = {}): CertificateInputs => {
  const content = { certificate: own.certificate, privateKey: own.key, authority: authority.certificate, ...changes };
  const file = (which: keyof typeof paths) => {
    const text = content[which];
    return typeof text === 'string' ? { text } : text;
  };
  const files = { certificate: file('certificate'), privateKey: file('privateKey'), authority: file('authority') };
  return { paths, files, chassisId: NAME, now: NOW };
};

it('takes what a platform issues for the chassis, also from one of several authorities', () => {
  expect(certificateProblem(inputs())).toBeUndefined();
  expect(certificateProblem(inputs({ authority: `${other.certificate}\n${authority.certificate}` }))).toBeUndefined();
});

const alone = authority.issue({ commonName: NAME }, [NAME], 'rsa');
const nameless = authority.issue({ commonName: NAME, organizations: ['a'] }, ['elsewhere'], 'rsa');
const curve = authority.issue({ commonName: NAME, organizations: ['a'] }, [NAME]);
const strange = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs8', format: 'pem' });

it.each<[string, Partial<CertificateInputs>]>([
  ['/certs/node.pem cannot be read: ENOENT', inputs({ certificate: { error: 'ENOENT' } })],
  ['/private/node.pem cannot be read: EACCES', inputs({ privateKey: { error: 'EACCES' } })],
  ['/certs/node.pem is not a certificate (PEM)', inputs({ certificate: 'x' })],
  ['/private/node.pem is not a private key (PEM, without a passphrase)', inputs({ privateKey: '' })],
  ['/cacerts/ca.pem has no certificate (PEM)', inputs({ authority: 'x' })],
  [
    '/private/node.pem is not an RSA key, the only kind that ovs-monitor-ipsec accepts',
    inputs({ certificate: curve.certificate, privateKey: curve.key }),
  ],
  ['/private/node.pem is not the key of /certs/node.pem', inputs({ privateKey: String(strange) })],
  ['/certs/node.pem is not issued by /cacerts/ca.pem', inputs({ authority: other.certificate })],
  ['/certs/node.pem is not valid before Jan  2 02:04:05 2026 GMT', { now: NOW - 2 * 3_600_000 }],
  ['/certs/node.pem has expired at Jan  2 03:04:05 2027 GMT', { now: NOW + 366 * 24 * 3_600_000 }],
  ['the common name of /certs/node.pem is not that of the chassis, other', { chassisId: 'other' }],
  [
    'the subject of /certs/node.pem is its common name alone: put an organization (O) before it',
    inputs({ certificate: alone.certificate, privateKey: alone.key }),
  ],
  [
    `/certs/node.pem has no subject alternative name DNS:${NAME}`,
    inputs({ certificate: nameless.certificate, privateKey: nameless.key }),
  ],
])('%s', (problem, changes) => {
  expect(certificateProblem({ ...inputs(), ...changes })).toBe(problem);
});

it('while the chassis has no name, the rest is looked at', () => {
  expect(certificateProblem({ ...inputs(), chassisId: undefined })).toBeUndefined();
});
