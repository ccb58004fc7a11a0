/**
 * What QEMU starts a guest from. Three disks, one above the other: the Debian tree of the nodes; the kernel's modules and
 * Node; this repository's programs. The first two are in the user's cache, for every checkout. The third takes 50 ms and is
 * made for each guest, so that a guest always runs what was built.
 */
import { execFile } from 'node:child_process';
import { globSync, symlinkSync } from 'node:fs';
import { copyFile, cp, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Artifacts } from '../artifacts.ts';
import { SandboxError } from '../errors.ts';
import { ensureInCache, mmdebstrap, treeCommand } from '../tree/tree.ts';
import { makeDisk } from './disks.ts';
import { GUEST_NODE, type GuestFiles, makeInitrd, makePrograms } from './files.ts';
import { baseKey, guestArchitecture, packagesKey, treeDiskKey, unpackArguments } from './recipe.ts';

const run = promisify(execFile);

/** In the cache. */
export interface QemuImages {
  /** The unpacked packages: QEMU and its firmware. */
  readonly packages: string;
  readonly kernel: string;
  /** Kernel modules and Node, as a disk, and the modules that the initrd needs, in the order of their names. */
  readonly base: string;
  readonly modules: string;
  readonly treeDisk: string;
}

/** Until the root is mounted; each needs those before it. */
const INITRD_MODULES = ['failover', 'net_failover', 'virtio_net', 'virtio_blk', 'overlay'];

/** Makes what the cache lacks: about half a minute, once. @throws SandboxError, Error when something can't be had */
export const ensureQemuImages = async (
  artifacts: Artifacts,
  tree: string,
  progress: (message: string) => void,
): Promise<QemuImages> => {
  const { packages: names } = guestArchitecture();
  const packages = await ensureInCache(packagesKey(names), async (draft) => {
    progress('unpacking a kernel and QEMU for guests (once, about half a minute)');
    await mmdebstrap((mirror) => unpackArguments(names, mirror, draft));
  });
  const kernel = onlyMatch(packages, 'boot/vmlinuz-*');
  const base = await ensureInCache(baseKey(names, process.version), async (draft) => {
    progress('making the disks of guests (once, about ten seconds)');
    await makeBase(artifacts, packages, draft);
  });
  const treeDisk = await ensureInCache(treeDiskKey(basename(tree)), (draft) => makeDisk(tree, join(draft, DISK)));
  return {
    ...{ packages, kernel, modules: join(base, 'modules') },
    ...{ base: join(base, DISK), treeDisk: join(treeDisk, DISK) },
  };
};

const DISK = 'disk.ext4';

const makeBase = async (artifacts: Artifacts, packages: string, target: string): Promise<void> => {
  const root = join(target, 'root');
  const version = basename(onlyMatch(packages, 'usr/lib/modules/*'));
  const modules = join(root, 'usr/lib/modules', version);
  await mkdir(join(root, 'usr/bin'), { recursive: true });
  await mkdir(join(root, 'usr/sbin'));
  await cp(join(packages, 'usr/lib/modules', version), modules, { recursive: true });
  // As on a Debian system, so that depmod finds them.
  symlinkSync('usr/lib', join(root, 'lib'));
  await unpackModules(packages, modules);
  const depmod = treeCommand(packages, 'usr/bin/kmod', 'depmod');
  await run(depmod.file, [...depmod.args, '-b', root, version]);
  await copyFile(join(packages, 'usr/bin/kmod'), join(root, 'usr/bin/kmod'));
  symlinkSync('../bin/kmod', join(root, 'usr/sbin/modprobe'));
  await mkdir(join(root, GUEST_NODE, '..'), { recursive: true });
  await copyFile(artifacts.node, join(root, GUEST_NODE));
  await keepInitrdModules(modules, join(target, 'modules'));
  await makeDisk(root, join(target, DISK));
  await rm(root, { recursive: true });
};

/** The guest would have to do it each time that it loads one. */
const unpackModules = async (packages: string, modules: string): Promise<void> => {
  const { file, args } = treeCommand(packages, 'usr/bin/xz');
  const packed = globSync('kernel/**/*.ko.xz', { cwd: modules });
  if (packed.length > 0) await run(file, [...args, '-d', ...packed], { cwd: modules });
};

const keepInitrdModules = async (modules: string, target: string): Promise<void> => {
  await mkdir(target);
  for (const [index, name] of INITRD_MODULES.entries()) {
    await copyFile(onlyMatch(modules, `kernel/**/${name}.ko`), join(target, `${index}-${name}.ko`));
  }
};

const onlyMatch = (folder: string, pattern: string): string => {
  const [found] = globSync(pattern, { cwd: folder });
  if (found !== undefined) return join(folder, found);
  throw new SandboxError('ERR_SANDBOX_MACHINE', `the guest's packages have no ${pattern}`);
};

/** Makes them in `folder`. */
export const makeQemuFiles = async (
  artifacts: Artifacts,
  { modules }: QemuImages,
  folder: string,
): Promise<GuestFiles> => {
  const files = { initrd: join(folder, 'initrd'), programs: join(folder, 'programs.ext4') };
  const names = (await readdir(modules)).sort();
  const makeProgramsDisk = async (): Promise<void> => {
    const draft = join(folder, 'programs');
    await makePrograms(artifacts, draft);
    await makeDisk(draft, files.programs);
    await rm(draft, { recursive: true });
  };
  await Promise.all([
    makeInitrd(
      artifacts,
      names.map((name) => join(modules, name)),
      files.initrd,
    ),
    makeProgramsDisk(),
  ]);
  return files;
};
