/** Plugins of containernetworking, built once from Go modules into the user's cache, as the programs of Kubernetes are. */
import { join } from 'node:path';
import { type EnsureOptions, ensurePrograms, type ProgramPaths, readSources } from '../kubernetes/build.ts';
import { type CniPlugin, cniPluginsRecipe, LINKER_FLAGS, PACKAGES } from './recipe.ts';

/**
 * Builds those that the cache lacks: about half a minute.
 * @throws SandboxError ERR_SANDBOX_MACHINE with the end of what Go wrote
 */
export const ensureCniPlugins = async <Name extends CniPlugin>(
  names: readonly Name[],
  options: EnsureOptions,
): Promise<ProgramPaths<Name>> => {
  const module = join(options.root, 'sandbox', 'cni-plugins');
  const [goMod = '', goSum = ''] = await readSources(module, ['go.mod', 'go.sum']);
  const recipe = cniPluginsRecipe({ goMod, goSum, architecture: process.arch });
  const about = { title: 'the CNI plugins', recipe, module, flags: LINKER_FLAGS, packages: PACKAGES };
  return await ensurePrograms(names, about, options);
};
