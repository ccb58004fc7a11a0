/**
 * Whether a node's tunnels can be encrypted with the files that it has: as ovs-monitor-ipsec(8) reads them and strongSwan takes them.
 * Pure.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { TunnelEncryption } from '../model/view.ts';

/** The content of each, or why there is none. */
export type EncryptionFiles = Readonly<
  Record<keyof TunnelEncryption, { readonly text: string } | { readonly error: string }>
>;

export interface CertificateInputs {
  readonly paths: TunnelEncryption;
  readonly files: EncryptionFiles;
  /** The name that other nodes ask for: that of the chassis. Undefined while nobody knows it. */
  readonly chassisId: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A message without a full stop; undefined: they will do. */
export const certificateProblem = ({ paths, files, chassisId, now }: CertificateInputs): string | undefined => {
  for (const which of FILES) {
    const file = files[which];
    if ('error' in file) return `${paths[which]} cannot be read: ${file.error}`;
  }
  const certificate = parsed(() => new X509Certificate(textOf(files.certificate)));
  if (certificate === undefined) return `${paths.certificate} is not a certificate (PEM)`;
  const key = parsed(() => createPrivateKey(textOf(files.privateKey)));
  if (key === undefined) return `${paths.privateKey} is not a private key (PEM, without a passphrase)`;
  const authorities = certificatesIn(textOf(files.authority));
  if (authorities.length === 0) return `${paths.authority} has no certificate (PEM)`;
  return (
    keyProblem(paths, certificate, key) ??
    issuerProblem(paths, certificate, authorities) ??
    timeProblem(paths, certificate, now) ??
    (chassisId === undefined ? undefined : nameProblem(paths, certificate, chassisId))
  );
};

const FILES = ['certificate', 'privateKey', 'authority'] as const satisfies readonly (keyof TunnelEncryption)[];

const textOf = (file: EncryptionFiles[keyof EncryptionFiles]): string => ('text' in file ? file.text : '');

const parsed = <T>(parse: () => T): T | undefined => {
  try {
    return parse();
  } catch {
    return undefined;
  }
};

const certificatesIn = (text: string): X509Certificate[] =>
  (text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []).flatMap(
    (one) => parsed(() => new X509Certificate(one)) ?? [],
  );

/** ovs-monitor-ipsec writes `RSA` into ipsec.secrets(5), whatever the key is. */
const keyProblem = (paths: TunnelEncryption, certificate: X509Certificate, key: KeyObject): string | undefined => {
  if (key.asymmetricKeyType !== 'rsa')
    return `${paths.privateKey} is not an RSA key, the only kind that ovs-monitor-ipsec accepts`;
  return certificate.checkPrivateKey(key) ? undefined : `${paths.privateKey} is not the key of ${paths.certificate}`;
};

const issuerProblem = (
  paths: TunnelEncryption,
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
): string | undefined => {
  const isIssuer = (one: X509Certificate): boolean =>
    certificate.checkIssued(one) && parsed(() => certificate.verify(one.publicKey)) === true;
  return authorities.some(isIssuer) ? undefined : `${paths.certificate} is not issued by ${paths.authority}`;
};

const timeProblem = (
  paths: TunnelEncryption,
  { validFrom, validTo }: X509Certificate,
  now: number,
): string | undefined => {
  if (now < Date.parse(validFrom)) return `${paths.certificate} is not valid before ${validFrom}`;
  return now < Date.parse(validTo) ? undefined : `${paths.certificate} has expired at ${validTo}`;
};

/**
 * ovs-monitor-ipsec finds the common name only when a part of the subject is before it, and gives it to strongSwan as the node's
 * identity, which strongSwan takes only when it is a DNS name of the certificate.
 */
const nameProblem = (
  paths: TunnelEncryption,
  { subject, subjectAltName = '' }: X509Certificate,
  chassisId: string,
): string | undefined => {
  const [first, ...others] = subject.split('\n');
  const expected = `CN=${chassisId}`;
  if (first === expected)
    return `the subject of ${paths.certificate} is its common name alone: put an organization (O) before it`;
  if (!others.includes(expected))
    return `the common name of ${paths.certificate} is not that of the chassis, ${chassisId}`;
  if (subjectAltName.split(', ').includes(`DNS:${chassisId}`)) return undefined;
  return `${paths.certificate} has no subject alternative name DNS:${chassisId}`;
};
