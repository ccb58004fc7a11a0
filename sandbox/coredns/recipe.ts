/** What the sandbox's CoreDNS is built of, and under which name it is kept. Pure. */
import { createHash } from 'node:crypto';
import { SandboxError } from '../errors.ts';
import { GO_FLAGS, type Recipe, type RecipeInput } from '../kubernetes/recipe.ts';

export const LINKER_FLAGS = '-s -w';

/** @param main its only source @throws SandboxError ERR_SANDBOX_MACHINE when go.mod does not name the versions */
export const corednsRecipe = ({
  goMod,
  goSum,
  architecture,
  main,
}: RecipeInput & { readonly main: string }): Recipe => {
  const version = /^(?:require|\t)\s*github\.com\/coredns\/coredns (v\S+)/m.exec(goMod)?.[1];
  const toolchain = /^toolchain (go\S+)/m.exec(goMod)?.[1];
  if (version === undefined || toolchain === undefined) {
    throw new SandboxError('ERR_SANDBOX_MACHINE', 'go.mod of sandbox/coredns names no CoreDNS or no toolchain');
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([goMod, goSum, main, GO_FLAGS, LINKER_FLAGS, architecture]))
    .digest('hex');
  return { version, toolchain, key: `coredns-${version}-${digest.slice(0, 12)}` };
};
