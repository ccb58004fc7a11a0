/** Certificates of a cluster that lives for hours (RFC 5280, signed with ECDSA P-256). Node reads X.509 and does not write it. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { ipToBytes, isIp, parseIp } from '../../../net/ip.ts';
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  time,
  utf8String,
} from './der.ts';

/** PEM, as programs and kubeconfigs take them. */
export interface KeyedCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** To Kubernetes the common name is the user and each organization one of its groups. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

export interface Authority extends KeyedCertificate {
  /** @param names DNS names and addresses, of a server; none: for a client @param keyType default: ec */
  issue(subject: Subject, names?: readonly string[], keyType?: KeyType): KeyedCertificate;
}

export type KeyType = 'ec' | 'rsa';

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

/** Clocks of a guest and of this machine may differ by seconds; nobody keeps a sandbox for a year. */
const BEFORE_MS = 3_600_000;
const VALID_MS = 365 * 24 * 3_600_000;

/** @param now milliseconds since 1970 */
export const createAuthority = (commonName: string, now: number): Authority => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer: Issuer = {
    name: nameOf({ commonName }),
    key: pair.privateKey,
    identifier: keyIdentifier(pair.publicKey),
  };
  const own = { subject: { commonName }, publicKey: pair.publicKey, extensions: authorityExtensions(), now };
  return {
    certificate: certificateOf(issuer, own),
    key: pemOf(pair.privateKey),
    issue: (subject, names = [], keyType = 'ec') => {
      const { publicKey, privateKey } = keyPair(keyType);
      const extensions = endExtensions(names);
      return { certificate: certificateOf(issuer, { subject, publicKey, extensions, now }), key: pemOf(privateKey) };
    },
  };
};

/** A key pair for tokens: the private key, from which the public one follows. */
export const createSigningKey = (): string => pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);

const keyPair = (type: KeyType) =>
  type === 'ec'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 });

/** Not PKCS #8, of which the API server does not read the public key. */
const pemOf = (key: KeyObject): string =>
  key.export({ type: key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'sec1', format: 'pem' }).toString();

interface Issuer {
  readonly name: Buffer;
  readonly key: KeyObject;
  readonly identifier: Buffer;
}

interface Content {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly now: number;
}

const certificateOf = (issuer: Issuer, { subject, publicKey, extensions, now }: Content): string => {
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256));
  const identifiers = [
    extension(OID.subjectKeyIdentifier, octetString(keyIdentifier(publicKey))),
    extension(OID.authorityKeyIdentifier, sequence(implicit(0, issuer.identifier))),
  ];
  const signed = sequence(
    explicit(0, integer(Buffer.of(2))),
    integer(randomBytes(16)),
    algorithm,
    issuer.name,
    sequence(time(new Date(now - BEFORE_MS)), time(new Date(now + VALID_MS))),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions, ...identifiers)),
  );
  const der = sequence(signed, algorithm, bitString(sign('sha256', signed, issuer.key)));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
};

const nameOf = ({ commonName, organizations = [] }: Subject): Buffer =>
  sequence(...organizations.map((name) => attribute(OID.organization, name)), attribute(OID.commonName, commonName));

const attribute = (type: string, value: string): Buffer => setOf(sequence(objectIdentifier(type), utf8String(value)));

const extension = (type: string, value: Buffer, critical = false): Buffer =>
  sequence(objectIdentifier(type), ...(critical ? [boolean(true)] : []), octetString(value));

/** Bits of KeyUsage, RFC 5280 §4.2.1.3: keyCertSign is the sixth, digitalSignature the first. */
const authorityExtensions = (): Buffer[] => [
  extension(OID.basicConstraints, sequence(boolean(true)), true),
  extension(OID.keyUsage, bitString(Buffer.of(0b0000_0100), 2), true),
];

const endExtensions = (names: readonly string[]): Buffer[] => [
  extension(OID.keyUsage, bitString(Buffer.of(0b1000_0000), 7), true),
  extension(OID.extendedKeyUsage, sequence(objectIdentifier(names.length > 0 ? OID.serverAuth : OID.clientAuth))),
  ...(names.length === 0 ? [] : [extension(OID.subjectAltName, sequence(...names.map(generalName)))]),
];

/** RFC 5280 §4.2.1.6: dNSName [2], iPAddress [7]. */
const generalName = (name: string): Buffer =>
  isIp(name) ? implicit(7, ipToBytes(parseIp(name))) : implicit(2, Buffer.from(name));

/** RFC 7093 §2 method 1: the first 160 bits of the key's SHA-256. */
const keyIdentifier = (publicKey: KeyObject): Buffer =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);
