/** Kubernetes' own e2e suite and what its specs start, built once from Go modules into the user's cache, as the programs of Kubernetes are. */
import { join } from 'node:path';
import { type EnsureOptions, ensurePrograms, type ProgramPaths, readSources } from '../../sandbox/kubernetes/build.ts';
import { linkerFlags, type Recipe } from '../../sandbox/kubernetes/recipe.ts';
import { type ConformanceProgram, conformanceRecipe, PACKAGES } from './recipe.ts';

export type ConformancePrograms = ProgramPaths<ConformanceProgram>;

/**
 * Builds what the cache lacks: minutes, once.
 * @throws SandboxError ERR_SANDBOX_MACHINE with the end of what Go wrote
 */
export const ensureConformancePrograms = async (options: EnsureOptions): Promise<ConformancePrograms> => {
  const recipe = await readRecipe(options.root);
  const about = { title: 'the e2e suite of Kubernetes', recipe, module: moduleOf(options.root), packages: PACKAGES };
  return await ensurePrograms(NAMES, { ...about, flags: linkerFlags(recipe.version) }, options);
};

/** @param root the repository's */
export const readRecipe = async (root: string): Promise<Recipe> => {
  const names = ['go.mod', 'go.sum', 'e2e/main.go', 'e2e/primary.go'];
  const [goMod = '', goSum = '', ...sources] = await readSources(moduleOf(root), names);
  return conformanceRecipe({ goMod, goSum, sources, architecture: process.arch });
};

const moduleOf = (root: string): string => join(root, 'tools', 'conformance', 'kubernetes');

const NAMES = Object.keys(PACKAGES) as ConformanceProgram[];
