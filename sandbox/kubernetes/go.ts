/** The Go command: this machine's, or Debian's in the user's cache. Either gets the toolchain that go.mod names. */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../base/error-message.ts';
import { SandboxError } from '../errors.ts';
import { unpackArguments } from '../guest/recipe.ts';
import { cacheFolder } from '../tree/cache.ts';
import { ensureInCache, mmdebstrap } from '../tree/tree.ts';
import { GO_FLAGS, type Recipe, switchesToolchains } from './recipe.ts';

const run = promisify(execFile);

export interface GoCommand {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Any Go that switches toolchains will do: it gets the pinned one from where it gets modules, and checks its sum. */
const PACKAGES = ['golang-go'];
const UNPACKED = 'go-trixie-1';

/** @throws SandboxError ERR_SANDBOX_MACHINE when there is none and none can be had */
export const findGo = async (
  { toolchain }: Recipe,
  { env, progress }: { readonly env: NodeJS.ProcessEnv; readonly progress: (message: string) => void },
): Promise<GoCommand> => {
  const own: GoCommand = { file: 'go', env: buildEnvironment(env) };
  if (await switches(own)) return own;
  try {
    const tree = await ensureInCache(UNPACKED, async (draft) => {
      progress(`unpacking Go, which gets ${toolchain} (once, about half a minute)`);
      await mmdebstrap((mirror) => unpackArguments(PACKAGES, mirror, draft));
    });
    return unpackedGo(tree, env);
  } catch (cause) {
    const what = `Kubernetes is built with Go 1.21 or newer, which is not on the PATH: ${messageOf(cause)}`;
    throw new SandboxError('ERR_SANDBOX_MACHINE', what, { cause });
  }
};

/** Outside of a module, so that it is asked for its own version. */
const switches = async ({ file, env }: GoCommand): Promise<boolean> => {
  const { stdout } = await run(file, ['version'], { env, cwd: '/' }).catch(() => ({ stdout: '' }));
  return switchesToolchains(stdout);
};

/** With caches of its own beside it: who has no Go wants none in the home folder. */
const unpackedGo = (tree: string, env: NodeJS.ProcessEnv): GoCommand => {
  const [root] = globSync('usr/lib/go-*', { cwd: tree });
  if (root === undefined) throw new SandboxError('ERR_SANDBOX_MACHINE', `${tree} has no Go`);
  const goroot = join(tree, root);
  const caches = { GOPATH: join(cacheFolder(), 'go-path'), GOCACHE: join(cacheFolder(), 'go-build') };
  return { file: join(goroot, 'bin', 'go'), env: { ...buildEnvironment(env), GOROOT: goroot, ...caches } };
};

/** Where modules come from is the user's; how it is built is not. */
const buildEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  ...{ CGO_ENABLED: '0', GO111MODULE: 'on', GOFLAGS: GO_FLAGS.join(' '), GOTOOLCHAIN: 'auto', GOWORK: 'off' },
});
