/** What belongs to one guest: its initrd, and this repository's programs. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Artifacts } from '../artifacts.ts';
import { cpioArchive } from './cpio.ts';

/** Where a guest has this repository. */
export const GUEST_ROOT = '/opt/ovn-udn';
export const GUEST_NODE = `${GUEST_ROOT}/node_modules/node/bin/node`;

/** `$XDG_CACHE_HOME/ovn-udn` of what runs there (toolbox/guest-serve.c). */
export const GUEST_CACHE = '/var/cache/ovn-udn';

export interface GuestFiles {
  readonly initrd: string;
  /** A disk, or a folder. */
  readonly programs: string;
}

/** @param modules that are loaded in this order before the root is mounted */
export const makeInitrd = async ({ toolbox }: Artifacts, modules: readonly string[], file: string): Promise<void> => {
  const contents = await Promise.all(modules.map((path) => readFile(path)));
  const archive = cpioArchive([
    { path: 'init', content: await readFile(toolbox) },
    { path: 'modules' },
    ...modules.map((path, index) => ({
      path: `modules/${basename(path)}`,
      content: contents[index] ?? Buffer.alloc(0),
    })),
  ]);
  await writeFile(file, archive);
};

/** What the sandbox finds by its artifacts: the bundles without their maps, the C programs, what it applies. */
export const makePrograms = async (artifacts: Artifacts, target: string): Promise<void> => {
  const root = join(target, GUEST_ROOT);
  await mkdir(root, { recursive: true });
  const isIncluded = (path: string): boolean => !/\.map$|\/(bench|reports|tsbuildinfo)$/.test(path);
  for (const part of [
    'package.json',
    'build',
    'dist',
    'daemonset',
    'sandbox/coredns',
    'sandbox/konnectivity',
    'sandbox/kubernetes',
  ]) {
    await cp(join(artifacts.root, part), join(root, part), { recursive: true, filter: isIncluded });
  }
};
