/** What `make build` made, wherever this program itself runs from: the sources or a bundle in `dist/`. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SandboxError } from './errors.ts';

export interface Artifacts {
  /** The repository's root. */
  readonly root: string;
  readonly build: string;
  readonly dist: string;
  /** The static programs of sandbox/toolbox and cni-shim. */
  readonly toolbox: string;
  readonly shim: string;
  /** The Node that runs this program: nodes run the same. */
  readonly node: string;
  readonly version: string;
}

/** @throws SandboxError ERR_SANDBOX_MACHINE when this is no built checkout */
export const findArtifacts = (): Artifacts => {
  const root = repositoryRoot(import.meta.dirname);
  const artifacts: Artifacts = {
    root,
    build: join(root, 'build'),
    dist: join(root, 'dist'),
    toolbox: join(root, 'build', 'toolbox'),
    shim: join(root, 'build', 'udn-cni'),
    node: process.execPath,
    version: versionOf(root),
  };
  for (const path of [artifacts.toolbox, artifacts.shim]) {
    if (!existsSync(path)) throw new SandboxError('ERR_SANDBOX_MACHINE', `${path} is missing: run \`make build\``);
  }
  return artifacts;
};

const repositoryRoot = (folder: string): string => {
  if (existsSync(join(folder, 'package.json'))) return folder;
  if (dirname(folder) === folder) throw new SandboxError('ERR_SANDBOX_MACHINE', 'package.json was not found');
  return repositoryRoot(dirname(folder));
};

const versionOf = (root: string): string => {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '0';
};
