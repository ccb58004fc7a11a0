/**
 * What user-mode Linux starts a guest from: a kernel that is a program, and folders of this machine, one above the other, as
 * disks are with QEMU (qemu-images.ts). The guest mounts them through `hostfs`, read-only.
 */
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Artifacts } from '../artifacts.ts';
import { ensureInCache } from '../tree/tree.ts';
import { GUEST_NODE, type GuestFiles, makeInitrd, makePrograms } from './files.ts';
import { ensureUmlKernel } from './uml-build.ts';

/** In the cache. */
export interface UmlImages {
  readonly kernel: string;
  /** A folder with Node in it, where a guest has it. */
  readonly node: string;
}

/** Makes what the cache lacks: minutes, once. @throws SandboxError, Error when something can't be had */
export const ensureUmlImages = async (
  { node: program }: Artifacts,
  progress: (message: string) => void,
): Promise<UmlImages> => {
  const kernel = await ensureUmlKernel(progress);
  const node = await ensureInCache(`guest-node-${process.version}`, async (draft) => {
    await mkdir(dirname(join(draft, GUEST_NODE)), { recursive: true });
    await copyFile(program, join(draft, GUEST_NODE));
  });
  return { kernel, node };
};

/** Makes them in `folder`. */
export const makeUmlFiles = async (artifacts: Artifacts, folder: string): Promise<GuestFiles> => {
  const files = { initrd: join(folder, 'initrd'), programs: join(folder, 'programs') };
  await Promise.all([makeInitrd(artifacts, [], files.initrd), makePrograms(artifacts, files.programs)]);
  return files;
};
