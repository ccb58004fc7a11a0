/** The version before this one, for upgrades and downgrades: images and manifests of a commit of this repository, built once into the user's cache. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../base/error-message.ts';
import { findArtifacts } from '../artifacts.ts';
import { cacheFolder } from '../tree/cache.ts';
import { ensureInCache } from '../tree/tree.ts';
import { archiveOf, buildImages, IMAGE_FOLDER, IMAGES } from './images.ts';

/**
 * The last one whose agents do not look for the API server where the kubelet does. A commit and no tag: clones and merges keep it. Set it to the last
 * commit of a release when that is made.
 */
const COMMIT = '7d877b99ea9236c0cb1cb97937911947f2055909';

export interface VersionBefore {
  readonly commit: string;
  /** Of package.json: the tag of its images. */
  readonly version: string;
  /** Folders, as in this repository. */
  readonly daemonset: string;
  readonly chart: string;
  /** With an archive of each image where `make images` has it. */
  readonly folder: string;
}

/** UDN_UPGRADE_FROM names another commit. */
const requested = (): string => process.env['UDN_UPGRADE_FROM'] || COMMIT;

const run = promisify(execFile);
const OUTPUT = { maxBuffer: 64 << 20 };

/** Why there is none here; undefined: there is one. A clone without the commit has one that was built by another clone. */
export const missingVersionBefore = (): string | undefined => {
  const { root } = findArtifacts();
  try {
    const commit = resolveCommit(root, requested());
    if (existsSync(join(cacheFolder(), cacheName(commit)))) return undefined;
    execFileSync('git', ['cat-file', '-e', `${commit}^{tree}`], { cwd: root, stdio: 'pipe' });
    return undefined;
  } catch (error) {
    const [line = ''] = messageOf(error).trim().split('\n').slice(-1);
    return `this clone lacks commit ${requested().slice(0, 12)}, see \`git fetch --unshallow\`: ${line}`;
  }
};

const FULL = /^[0-9a-f]{40}$/;

const resolveCommit = (root: string, name: string): string =>
  FULL.test(name)
    ? name
    : execFileSync('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], {
        cwd: root,
        encoding: 'utf8',
        stdio: 'pipe',
      }).trim();

const cacheName = (commit: string): string => `version-${commit.slice(0, 12)}-${process.arch}`;

/** Half a minute, once. @throws Error when the commit is not there, or does not build */
export const ensureVersionBefore = async (progress: (message: string) => void): Promise<VersionBefore> => {
  const { root } = findArtifacts();
  const commit = resolveCommit(root, requested());
  const folder = await ensureInCache(cacheName(commit), async (draft) => {
    progress(`building the images of ${commit.slice(0, 12)}, the version before (once, half a minute)`);
    const source = await mkdtemp(join(tmpdir(), 'version-before-'));
    try {
      await build({ root, commit, source });
      for (const name of KEPT)
        await cp(join(source, name), join(draft, name), { recursive: true, verbatimSymlinks: true });
      await mkdir(join(draft, IMAGE_FOLDER), { recursive: true });
      for (const name of IMAGES) await copyFile(join(source, archiveOf(name)), join(draft, archiveOf(name)));
    } finally {
      await rm(source, { recursive: true, force: true });
    }
  });
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { commit, version, daemonset: join(folder, 'daemonset'), chart: join(folder, 'charts/ovn-udn'), folder };
};

const KEPT = ['daemonset', 'charts', 'package.json'] as const;

interface Build {
  /** Of this checkout. */
  readonly root: string;
  readonly commit: string;
  readonly source: string;
}

const build = async ({ root, commit, source }: Build): Promise<void> => {
  const archive = join(source, 'source.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: root });
  await run('tar', ['--extract', '--file', archive], { cwd: source });
  await rm(archive);
  await installPackages(root, source);
  await run(process.execPath, ['tools/build.ts'], { cwd: source, ...OUTPUT });
  await buildImages(source);
};

/** Those of this checkout where they are the same. */
const installPackages = async (root: string, source: string): Promise<void> => {
  const [own, other] = await Promise.all([root, source].map((folder) => readFile(join(folder, 'package-lock.json'))));
  if (own?.equals(other ?? Buffer.of())) await symlink(join(root, 'node_modules'), join(source, 'node_modules'));
  else await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: source });
};
