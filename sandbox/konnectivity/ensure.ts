/** konnectivity, built once from Go modules into the user's cache, as the programs of Kubernetes are. */
import { join } from 'node:path';
import { type EnsureOptions, ensurePrograms, type ProgramPaths, readSources } from '../kubernetes/build.ts';
import { type KonnectivityProgram, konnectivityRecipe, LINKER_FLAGS, PACKAGES } from './recipe.ts';

export type KonnectivityPrograms = ProgramPaths<KonnectivityProgram>;

/**
 * Builds it when the cache lacks it: about two minutes.
 * @throws SandboxError ERR_SANDBOX_MACHINE with the end of what Go wrote
 */
export const ensureKonnectivity = async (options: EnsureOptions): Promise<KonnectivityPrograms> => {
  const module = join(options.root, 'sandbox', 'konnectivity');
  const [goMod = '', goSum = ''] = await readSources(module, ['go.mod', 'go.sum']);
  const recipe = konnectivityRecipe({ goMod, goSum, architecture: process.arch });
  const about = { title: 'konnectivity', recipe, module, flags: LINKER_FLAGS, packages: PACKAGES };
  return await ensurePrograms(['konnectivity-server', 'konnectivity-agent'], about, options);
};
