/** A kernel that is a program, user-mode Linux, built once of Debian's sources into the user's cache. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { SandboxError } from '../errors.ts';
import { withLock } from '../kubernetes/lock.ts';
import { cacheFolder } from '../tree/cache.ts';
import { ensureInCache, mmdebstrap } from '../tree/tree.ts';
import { turnOff } from './kconfig.ts';
import {
  isConfigured,
  UML_ENABLED,
  UML_SOURCE,
  UML_TURNED_OFF,
  umlKey,
  umlOptions,
  umlSourceArguments,
} from './uml-recipe.ts';

const run = promisify(execFile);

const KERNEL = 'linux';

/**
 * Builds it when the cache lacks it: five to ten minutes on two processors.
 * @returns the program's path
 * @throws SandboxError ERR_SANDBOX_MACHINE with the end of what the compiler wrote
 */
export const ensureUmlKernel = async (progress: (message: string) => void): Promise<string> => {
  const folder = join(cacheFolder(), umlKey());
  if (!existsSync(folder)) {
    await findTools();
    await mkdir(cacheFolder(), { recursive: true });
    const onWait = (): void => progress('another process builds the kernel of guests; waiting for it');
    await withLock(`${folder}.lock`, onWait, () => ensureInCache(umlKey(), (draft) => build(draft, progress)));
  }
  return join(folder, KERNEL);
};

/** What tools/bootstrap.sh installs for it, by package. */
const TOOLS = {
  bc: 'bc',
  bison: 'bison',
  flex: 'flex',
  gcc: 'gcc',
  make: 'make',
  mmdebstrap: 'mmdebstrap',
  strip: 'binutils',
  xz: 'xz-utils',
};

const findTools = async (): Promise<void> => {
  const { stdout } = await run('sh', [
    '-c',
    'for tool; do command -v "$tool" > /dev/null || echo "$tool"; done',
    'sh',
    ...Object.keys(TOOLS),
  ]);
  const missing = Object.entries(TOOLS).filter(([tool]) => stdout.split('\n').includes(tool));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name).join(' ');
  throw new SandboxError('ERR_SANDBOX_MACHINE', `what builds a kernel is missing: install ${packages}`);
};

/** Leaves the program alone in `draft`. */
const build = async (draft: string, progress: (message: string) => void): Promise<void> => {
  progress(`building a kernel for guests, user-mode Linux, into ${join(cacheFolder(), umlKey())} (once, minutes)`);
  const packages = join(draft, 'packages');
  await mmdebstrap((mirror) => umlSourceArguments(mirror, packages));
  await run('tar', ['-xf', join(packages, 'usr/src', `${UML_SOURCE}.tar.xz`), '-C', draft]);
  await rm(packages, { recursive: true });
  const source = join(draft, UML_SOURCE);
  await editKconfig(join(source, UML_TURNED_OFF.file));
  await make(source, ['defconfig'], () => {});
  await run('scripts/config', umlOptions(), { cwd: source });
  await make(source, ['olddefconfig'], () => {});
  await refuseUnknownOptions(source);
  await make(source, [`-j${availableParallelism()}`, KERNEL], (line) => count(line, progress));
  await run('strip', ['-o', join(draft, KERNEL), join(source, KERNEL)]);
  await rm(source, { recursive: true });
  progress('the kernel of guests is built');
};

/** Before the first configuration, which takes it in. */
const editKconfig = async (file: string): Promise<void> =>
  writeFile(file, turnOff(await readFile(file, 'utf8'), UML_TURNED_OFF.names));

/** An option of another release of the kernel is left out without a word. */
const refuseUnknownOptions = async (source: string): Promise<void> => {
  const config = await readFile(join(source, '.config'), 'utf8');
  const missing = UML_ENABLED.filter((name) => !isConfigured(config, name));
  const kept = UML_TURNED_OFF.names.filter((name) => isConfigured(config, name));
  if (missing.length + kept.length === 0) return;
  const words = [...missing, ...kept.map((name) => `${name}=n`)].join(', ');
  throw new SandboxError('ERR_SANDBOX_MACHINE', `${UML_SOURCE} does not take ${words}`);
};

/** A line of progress for so many objects. */
const STEP = 250;
const KEPT_LINES = 20;

let objects = 0;
const count = (line: string, progress: (message: string) => void): void => {
  if (!/^ {2}(CC|AS) /.test(line)) return;
  objects += 1;
  if (objects % STEP === 0) progress(`the kernel of guests: ${objects} of some 1,400 objects compiled`);
};

const make = async (source: string, args: readonly string[], onLine: (line: string) => void): Promise<void> => {
  // Of a make that runs this: its flags and its jobs are none of the kernel's.
  const { MAKEFLAGS: _flags, MFLAGS: _, MAKELEVEL: __, ...env } = process.env;
  const child = spawn('nice', ['make', 'ARCH=um', ...args], { cwd: source, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? '' : `it ended with ${signal ?? `status ${code}`}`));
  });
  const tail: string[] = [];
  const keep = (line: string): void => {
    tail.push(line);
    if (tail.length > KEPT_LINES) tail.shift();
  };
  createInterface(child.stderr).on('line', keep);
  createInterface(child.stdout).on('line', onLine);
  const failure = await ended;
  if (failure === '') return;
  throw new SandboxError('ERR_SANDBOX_MACHINE', [`the kernel of guests was not built: ${failure}`, ...tail].join('\n'));
};
