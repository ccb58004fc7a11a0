/**
 * Programs of a real Kubernetes, and of what belongs to one: those of `KUBEBUILDER_ASSETS` where it has them, else built once
 * from Go modules into the user's cache. A program is there when its file is: it gets its name when it is complete.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SandboxError } from '../errors.ts';
import { cacheFolder } from '../tree/cache.ts';
import { removeStaleDrafts } from '../tree/tree.ts';
import { findGo, type GoCommand } from './go.ts';
import { withLock } from './lock.ts';
import { type KubernetesProgram, linkerFlags, PACKAGES, type Recipe, recipeOf } from './recipe.ts';

export type ProgramPaths<Name extends string> = Readonly<Record<Name, string>>;

export interface EnsureOptions {
  /** The repository's. */
  readonly root: string;
  readonly progress: (message: string) => void;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Ends the build. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Builds what is neither given nor in the cache: minutes, once.
 * @throws SandboxError ERR_SANDBOX_MACHINE with the end of what Go wrote
 */
export const ensureKubernetes = async <Name extends KubernetesProgram>(
  names: readonly Name[],
  options: EnsureOptions,
): Promise<ProgramPaths<Name>> => {
  const module = join(options.root, 'sandbox', 'kubernetes');
  const [goMod = '', goSum = ''] = await readSources(module, ['go.mod', 'go.sum']);
  const recipe = recipeOf({ goMod, goSum, architecture: process.arch });
  const flags = linkerFlags(recipe.version);
  return await ensurePrograms(names, { title: 'Kubernetes', recipe, module, flags, packages: PACKAGES }, options);
};

export const readSources = (module: string, names: readonly string[]): Promise<string[]> =>
  Promise.all(names.map((name) => readFile(join(module, name), 'utf8')));

/** A Go module of ours, of which programs are built. */
export interface GoModule<Name extends string> {
  /** For people. */
  readonly title: string;
  readonly recipe: Recipe;
  /** Its folder. */
  readonly module: string;
  /** Of the linker. */
  readonly flags: string;
  /** Build tags, which leave out what the program is not needed for. */
  readonly tags?: readonly string[];
  /** Path of a go.mod in the place of the module's own, with a go.sum beside it. */
  readonly modfile?: string | undefined;
  /** By program. */
  readonly packages: Readonly<Record<Name, string>>;
}

/** The same for any module. */
export const ensurePrograms = async <Name extends string>(
  names: readonly Name[],
  module: GoModule<Name>,
  { progress, env = process.env, signal }: Omit<EnsureOptions, 'root'>,
): Promise<ProgramPaths<Name>> => {
  const folder = join(cacheFolder(env), module.recipe.key);
  const paths = names.map((name) => givenProgram(name, env) ?? join(folder, name));
  const missing = (): Name[] => names.filter((_, i) => !existsSync(paths[i] ?? ''));
  if (missing().length > 0) {
    await mkdir(folder, { recursive: true });
    const onWait = (): void => progress(`another process builds ${module.title}; waiting for it`);
    await withLock(`${folder}.lock`, onWait, () => buildAll(missing(), { ...module, folder, progress, env, signal }));
  }
  return Object.fromEntries(names.map((name, i) => [name, paths[i]])) as ProgramPaths<Name>;
};

const givenProgram = (name: string, env: NodeJS.ProcessEnv): string | undefined => {
  const given = env['KUBEBUILDER_ASSETS'];
  if (given === undefined || given === '') return undefined;
  const path = join(given, name);
  return existsSync(path) ? path : undefined;
};

interface Build<Name extends string> extends GoModule<Name> {
  readonly folder: string;
  readonly progress: (message: string) => void;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal | undefined;
}

const buildAll = async <Name extends string>(names: readonly Name[], build: Build<Name>): Promise<void> => {
  const { title, recipe, module, flags, tags = [], modfile, packages, folder, progress, env, signal } = build;
  if (names.length === 0) return;
  progress(`building ${names.join(', ')} of ${title} ${recipe.version} into ${folder} (once, minutes)`);
  const go = await findGo(recipe, { env, progress });
  await removeStaleDrafts(cacheFolder(env), Date.now());
  const draft = await mkdtemp(`${folder}.draft-`);
  try {
    for (const name of names) {
      const start = performance.now();
      const output = join(draft, name);
      await compile(go, { name, module, flags, tags, modfile, source: packages[name], output, progress, signal });
      await rename(join(draft, name), join(folder, name));
      progress(`${name} is built (${((performance.now() - start) / 1000).toFixed(0)} s)`);
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

interface Compilation {
  readonly name: string;
  readonly module: string;
  readonly flags: string;
  readonly tags: readonly string[];
  readonly modfile: string | undefined;
  /** The Go package. */
  readonly source: string;
  readonly output: string;
  readonly progress: (message: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** A line of progress for so many modules that come, and packages that are compiled. */
const STEP = 200;
const KEPT_LINES = 20;

const compile = async (
  go: GoCommand,
  { name, module, flags, tags, modfile, source, output, progress, signal }: Compilation,
): Promise<void> => {
  const more = modfile === undefined ? [] : ['-modfile', modfile];
  const args = ['build', '-v', ...more, '-ldflags', flags, '-tags', tags.join(','), '-o', output, source];
  const child = spawn(go.file, args, { cwd: module, env: go.env, stdio: ['ignore', 'ignore', 'pipe'], signal });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? '' : `it ended with ${signal ?? `status ${code}`}`));
  });
  const counts = { modules: 0, packages: 0 };
  const tail: string[] = [];
  for await (const line of createInterface(child.stderr)) {
    tail.push(line);
    if (tail.length > KEPT_LINES) tail.shift();
    const what = line.startsWith('go: downloading ') ? 'modules' : 'packages';
    counts[what] += 1;
    if (counts[what] % STEP !== 0) continue;
    progress(`${name}: ${counts[what]} ${what} ${what === 'modules' ? 'fetched' : 'compiled'}`);
  }
  const failure = await ended;
  if (failure === '') return;
  signal?.throwIfAborted();
  throw new SandboxError('ERR_SANDBOX_MACHINE', [`${name} was not built: ${failure}`, ...tail].join('\n'));
};
