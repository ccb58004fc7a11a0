/** Disks as files: ext4 file systems with what a folder holds, mke2fs(8). */
import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasSystemCode, SandboxError } from '../errors.ts';

const run = promisify(execFile);

/** For inodes, directories and what blocks are not filled with; what stays empty takes no space, the file is sparse. */
const OVERHEAD = 1.3;
const SPARE_MIB = 8;

/** Writes the folder's content to a new file system in `file`, which is only ever read. */
export const makeDisk = async (folder: string, file: string): Promise<void> => {
  const megabytes = Math.ceil(((await sizeOf(folder)) * OVERHEAD) / 2 ** 20) + SPARE_MIB;
  const args = ['-q', '-t', 'ext4', '-O', '^has_journal', '-m', '0', '-i', '8192', '-d', folder, file, `${megabytes}M`];
  try {
    await run('mke2fs', args, { env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` } });
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT')) throw cause;
    throw new SandboxError('ERR_SANDBOX_MACHINE', 'mke2fs is missing: install e2fsprogs', { cause });
  }
};

const sizeOf = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((sum, size) => sum + size, entries.length * INODE);
};

const INODE = 1024;
