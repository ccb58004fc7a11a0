/** What a guest is made of beside the Debian tree of the nodes. Every change here makes new files in the cache. */
import { createHash } from 'node:crypto';
import { SandboxError } from '../errors.ts';
import { SUITE } from '../tree/recipe.ts';

interface GuestArchitecture {
  readonly packages: readonly string[];
  /** In the unpacked packages. */
  readonly emulator: string;
  /** Where the machine's firmware is. */
  readonly firmware: readonly string[];
}

/**
 * The emulator is QEMU 10: with the 7.2 of Debian 12 the guest's kernel crashed once in two runs. `xz-utils` unpacks
 * modules, `kmod` lists and loads them.
 */
const ARCHITECTURES: Readonly<Partial<Record<NodeJS.Architecture, GuestArchitecture>>> = {
  x64: {
    packages: ['kmod', 'linux-image-cloud-amd64', 'qemu-system-x86', 'xz-utils'],
    emulator: 'usr/bin/qemu-system-x86_64',
    firmware: ['usr/share/qemu', 'usr/share/seabios'],
  },
};

/** @throws SandboxError ERR_SANDBOX_MACHINE on a machine for which there is no guest */
export const guestArchitecture = (architecture = process.arch): GuestArchitecture => {
  const found = ARCHITECTURES[architecture];
  if (found !== undefined) return found;
  throw new SandboxError('ERR_SANDBOX_MACHINE', `there is no guest for ${architecture} machines`);
};

const OPTIONS: readonly string[] = [
  // Unpacked, not installed: nothing of them runs when they are configured.
  '--variant=extract',
  '--aptopt=Acquire::Languages "none"',
  ...['man', 'doc', 'locale', 'info'].map((folder) => `--dpkgopt=path-exclude=/usr/share/${folder}/*`),
];

/** mmdebstrap(1) arguments that unpack the packages of `mirror` into `target`. */
export const unpackArguments = (packages: readonly string[], mirror: string, target: string): string[] => [
  ...OPTIONS,
  `--include=${packages.join(',')}`,
  SUITE,
  target,
  mirror,
];

/** Counts changes of what is made out of the packages (images.ts). */
const REVISION = 1;

/** Names the unpacked packages in the cache. */
export const packagesKey = (packages: readonly string[]): string => `guest-${SUITE}-${digest(packages)}`;

/** Names the disk with kernel modules and Node. @param node its version */
export const baseKey = (packages: readonly string[], node: string): string =>
  `guest-base-${digest([...packages, node, String(REVISION)])}`;

/** Names the disk with the nodes' Debian tree. @param tree its own name */
export const treeDiskKey = (tree: string): string => `guest-disk-${tree}`;

const digest = (words: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([SUITE, OPTIONS, ...words]))
    .digest('hex')
    .slice(0, 12);
