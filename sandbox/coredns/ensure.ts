/** CoreDNS, built once from Go modules into the user's cache, as the programs of Kubernetes are. */
import { join } from 'node:path';
import { type EnsureOptions, ensurePrograms, readSources } from '../kubernetes/build.ts';
import { corednsRecipe, LINKER_FLAGS } from './recipe.ts';

/**
 * Builds it when the cache lacks it: about two minutes.
 * @returns the program's path
 * @throws SandboxError ERR_SANDBOX_MACHINE with the end of what Go wrote
 */
export const ensureCoredns = async (options: EnsureOptions): Promise<string> => {
  const module = join(options.root, 'sandbox', 'coredns');
  const [goMod = '', goSum = '', main = ''] = await readSources(module, ['go.mod', 'go.sum', 'main.go']);
  const recipe = corednsRecipe({ goMod, goSum, main, architecture: process.arch });
  const about = { title: 'CoreDNS', recipe, module, flags: LINKER_FLAGS, packages: { coredns: '.' } };
  return (await ensurePrograms(['coredns'], about, options)).coredns;
};
