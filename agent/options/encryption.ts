/** The flags about the encryption of tunnels. */
import { UsageError } from '../../program/errors.ts';
import type { Flag, Flags } from '../../program/flags.ts';
import type { TunnelEncryption } from '../model/view.ts';

const MODES = ['none', 'ipsec'] as const;

/**
 * Debian's AppArmor profile lets charon read below /etc/ipsec.d, and it loads authorities of this folder by itself: the section that
 * ovs-monitor-ipsec (3.5) writes for `ca_cert` lacks `auto=add`, and strongSwan passes over it.
 */
export const DEFAULT_ENCRYPTION_FILES: TunnelEncryption = {
  certificate: '/etc/ipsec.d/certs/ovn-udn.pem',
  privateKey: '/etc/ipsec.d/private/ovn-udn.pem',
  authority: '/etc/ipsec.d/cacerts/ovn-udn.pem',
};

const FILE_FLAGS = {
  certificate: 'encryption-certificate',
  privateKey: 'encryption-key',
  authority: 'encryption-ca',
} as const satisfies Record<keyof TunnelEncryption, string>;

export const ENCRYPTION_FLAGS: readonly Flag[] = [
  {
    flag: 'encryption',
    help: 'ipsec: encrypt tunnels between nodes and accept no others',
    defaultText: 'none',
  },
  {
    flag: FILE_FLAGS.certificate,
    help: 'path of the certificate of the node, with the name of the chassis',
    defaultText: DEFAULT_ENCRYPTION_FILES.certificate,
  },
  {
    flag: FILE_FLAGS.privateKey,
    help: 'path of the RSA key of the certificate on the node',
    defaultText: DEFAULT_ENCRYPTION_FILES.privateKey,
  },
  {
    flag: FILE_FLAGS.authority,
    help: 'path of the certificates of the authority on the node',
    defaultText: DEFAULT_ENCRYPTION_FILES.authority,
  },
];

/** Undefined: tunnels are not encrypted. @throws UsageError */
export const readEncryption = (flags: Flags): TunnelEncryption | undefined => {
  const text = flags.text('encryption') ?? 'none';
  const mode = MODES.find((one) => one === text);
  if (mode === undefined) throw new UsageError(`--encryption "${text}" is not one of ${MODES.join(', ')}`);
  const file = (which: keyof TunnelEncryption): string => readPath(flags, which);
  const files = { certificate: file('certificate'), privateKey: file('privateKey'), authority: file('authority') };
  return mode === 'none' ? undefined : files;
};

/** ovs-monitor-ipsec writes paths into ipsec.conf(5) as they are. */
const readPath = (flags: Flags, which: keyof TunnelEncryption): string => {
  const path = flags.text(FILE_FLAGS[which]) ?? DEFAULT_ENCRYPTION_FILES[which];
  if (/^(\/[\w.+@:-]+)+$/.test(path)) return path;
  throw new UsageError(`--${FILE_FLAGS[which]} must be an absolute path without blanks, not "${path}"`);
};
