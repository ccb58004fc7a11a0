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

/** Makes the tree unless the cache has it. @param progress called with what takes long */
export const ensureTree = (progress: (message: string) => void): Promise<string> =>
  ensureInCache(recipeKey(process.arch), async (draft) => {
    progress(`making the Debian tree of the sandbox in ${treePath()} (once, about a minute)`);
    await mmdebstrap((mirror) => mmdebstrapArguments(mirror, draft));
  });

/**
 * A folder of the cache, made unless it is there. Several callers at once are safe: each makes its own and the first to
 * finish wins the name.
 * @param make fills the empty folder that it gets
 */
export const ensureInCache = async (name: string, make: (draft: string) => Promise<void>): Promise<string> => {
  const path = join(cacheFolder(), name);
  if (existsSync(path)) return path;
  await mkdir(cacheFolder(), { recursive: true });
  await removeStaleDrafts(cacheFolder(), Date.now());
  const draft = await mkdtemp(`${path}.draft-`);
  try {
    await chmod(draft, 0o755);
    await make(draft);
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
 * @param name what the program takes for its own: one program of many decides by it what to do
 */
export const treeCommand = (tree: string, program: string, name?: string): { file: string; args: string[] } => ({
  // Of a tree whose packages were unpacked and not installed, `lib64` is below `usr` only.
  file:
    globSync('{,usr/}lib64/ld-linux-*.so.*', { cwd: tree }).map((path) => join(tree, path))[0] ??
    join(tree, 'lib/ld.so'),
  args: [...(name === undefined ? [] : ['--argv0', name]), '--library-path', libraryPath(tree), join(tree, program)],
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
    // Not mtime: dpkg gives the root of a tree, while it is being made, the months-old one of its package.
    const { ctimeMs } = await stat(draft);
    if (now - ctimeMs > STALE_MS) await rm(draft, { recursive: true, force: true });
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

/**
 * Runs mmdebstrap(1).
 * @param argumentsFor from the address of this machine's mirror
 * @param environment more variables of it
 * @throws Error with the end of what it printed
 */
export const mmdebstrap = async (
  argumentsFor: (mirror: string) => readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> => {
  try {
    const env = { ...process.env, ...environment };
    await run('mmdebstrap', [...argumentsFor(await findMirror())], { maxBuffer: 64 << 20, env });
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    if (stderr === undefined) throw error;
    throw new Error(`mmdebstrap failed: ${stderr.trim().split('\n').slice(-3).join(' | ')}`, { cause: error });
  }
};
