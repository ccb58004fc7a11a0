/** CNI plugins of others, built once from Go modules into the user's cache, as the programs of Kubernetes are. */
import { join } from 'node:path';
import { type EnsureOptions, ensurePrograms, type ProgramPaths, readSources } from '../kubernetes/build.ts';
import {
  type CniPlugin,
  LINKER_FLAGS,
  MODULES,
  PACKAGES,
  type PluginModule,
  pluginRecipe,
  pluginsOf,
} from './recipe.ts';

/**
 * Builds those that the cache lacks: about half a minute for those of containernetworking, two minutes for Multus.
 * @throws SandboxError ERR_SANDBOX_MACHINE with the end of what Go wrote
 */
export const ensureCniPlugins = async (
  names: readonly CniPlugin[],
  options: EnsureOptions,
): Promise<Readonly<Record<string, string>>> => {
  const built: ProgramPaths<string>[] = [];
  for (const module of MODULES) built.push(await ensureOf(module, pluginsOf(module, names), options));
  return Object.assign({}, ...built);
};

const ensureOf = async (
  module: PluginModule,
  names: readonly CniPlugin[],
  options: EnsureOptions,
): Promise<ProgramPaths<string>> => {
  if (names.length === 0) return {};
  const folder = join(options.root, 'sandbox', 'cni-plugins', module.folder);
  const [goMod = '', goSum = ''] = await readSources(folder, ['go.mod', 'go.sum']);
  const recipe = pluginRecipe(module, { goMod, goSum, architecture: process.arch });
  const about = { title: module.title, recipe, module: folder, flags: LINKER_FLAGS, packages: PACKAGES };
  return await ensurePrograms(names, about, options);
};
