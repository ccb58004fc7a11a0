/** Where the sandbox's cgroups are: below the root of the unified hierarchy, cgroups(7). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError } from '../errors.ts';

/** Parent of the cgroups of all sandboxes; removed with the last of them. */
export const cgroupsFolder = async (): Promise<string> =>
  join(unifiedHierarchy(await readFile('/proc/self/mounts', 'utf8')), 'ovn-udn-sandbox');

/**
 * The first mount point of a cgroup2 file system.
 * @param mounts the content of /proc/self/mounts
 * @throws SandboxError ERR_SANDBOX_MACHINE
 */
export const unifiedHierarchy = (mounts: string): string => {
  const fields = mounts.split('\n').map((line) => line.split(' '));
  const mountPoint = fields.find(([, , type]) => type === 'cgroup2')?.[1];
  if (mountPoint === undefined) {
    throw new SandboxError('ERR_SANDBOX_MACHINE', 'no cgroup v2 hierarchy is mounted on this machine');
  }
  return unescapeMount(mountPoint);
};

/** Spaces and such are octal escapes, fstab(5). */
const unescapeMount = (path: string): string =>
  path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
