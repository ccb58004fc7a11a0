/** The Debian tree that every node of the sandbox is an overlay of: made once, kept in the user's cache. */
import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './cache.ts';
import { mirrorIn, mmdebstrapArguments, recipeKey } from './recipe.ts';

const run = promisify(execFile);

/** The tree's path in the cache, whether it is there yet or not. */
export const treePath = (): string => join(cacheFolder(), recipeKey(process.arch));

/**
 * Makes the tree unless the cache has it. Several callers at once are safe: each makes its own and the first to finish
 * wins the name.
 * @param progress is told what takes long
 * @throws Error when mmdebstrap fails, with the end of what it printed
 */
export const ensureTree = async (progress: (message: string) => void): Promise<string> => {
  const path = treePath();
  if (existsSync(path)) return path;
  progress(`making the Debian tree of the sandbox in ${path} (once, about a minute)`);
  await mkdir(cacheFolder(), { recursive: true });
  await removeStaleDrafts(cacheFolder(), Date.now());
  const draft = await mkdtemp(`${path}.draft-`);
  try {
    await chmod(draft, 0o755);
    await mmdebstrap(await findMirror(), draft);
    await rename(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return path;
};

/**
 * A command that runs a program of the tree on this machine without entering the tree: the tree's own dynamic linker
 * with the tree's libraries. Good for programs that read nothing else from the tree, such as ovsdb-server.
 * @param program a path from the tree's root, for example `usr/sbin/ovsdb-server`
 */
export const treeCommand = (tree: string, program: string): { file: string; args: string[] } => ({
  file: globSync('lib64/ld-linux-*.so.*', { cwd: tree }).map((name) => join(tree, name))[0] ?? join(tree, 'lib/ld.so'),
  args: ['--library-path', libraryPath(tree), join(tree, program)],
});

const libraryPath = (tree: string): string =>
  globSync('usr/lib/*-linux-gnu', { cwd: tree })
    .map((folder) => join(tree, folder))
    .join(':');

/** Of makers that were killed: making one takes minutes, not an hour. @param now milliseconds since 1970 */
export const removeStaleDrafts = async (folder: string, now: number): Promise<void> => {
  for (const name of await readdir(folder)) {
    if (!name.includes('.draft-')) continue;
    const draft = join(folder, name);
    const { mtimeMs } = await stat(draft);
    if (now - mtimeMs > STALE_MS) await rm(draft, { recursive: true, force: true });
  }
};

const STALE_MS = 3_600_000;

const findMirror = async (): Promise<string> => {
  const files = ['/etc/apt/sources.list', ...globSync('/etc/apt/sources.list.d/*')];
  for (const file of files) {
    const mirror = mirrorIn(await readFile(file, 'utf8').catch(() => ''));
    if (mirror !== undefined) return mirror;
  }
  throw new Error('no Debian mirror in the apt sources of this machine');
};

const mmdebstrap = async (mirror: string, target: string): Promise<void> => {
  try {
    await run('mmdebstrap', mmdebstrapArguments(mirror, target), { maxBuffer: 64 << 20 });
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw new Error(`mmdebstrap failed: ${stderr.trim().split('\n').slice(-3).join(' | ')}`, { cause: error });
  }
};
