/** What the sandbox's konnectivity is built of, and under which name it is kept. Pure. */
import { createHash } from 'node:crypto';
import { SandboxError } from '../errors.ts';
import { GO_FLAGS, type Recipe, type RecipeInput } from '../kubernetes/recipe.ts';

/** By the name of the program, its Go package. */
export const PACKAGES = {
  'konnectivity-server': 'sigs.k8s.io/apiserver-network-proxy/cmd/server',
  'konnectivity-agent': 'sigs.k8s.io/apiserver-network-proxy/cmd/agent',
} as const;

export type KonnectivityProgram = keyof typeof PACKAGES;

export const LINKER_FLAGS = '-s -w';

/** @throws SandboxError ERR_SANDBOX_MACHINE when go.mod does not name the versions */
export const konnectivityRecipe = ({ goMod, goSum, architecture }: RecipeInput): Recipe => {
  const version = /^(?:require|\t)\s*sigs\.k8s\.io\/apiserver-network-proxy (v\S+)/m.exec(goMod)?.[1];
  const toolchain = /^toolchain (go\S+)/m.exec(goMod)?.[1];
  if (version === undefined || toolchain === undefined) {
    throw new SandboxError('ERR_SANDBOX_MACHINE', 'go.mod of sandbox/konnectivity names no version or no toolchain');
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([goMod, goSum, GO_FLAGS, LINKER_FLAGS, architecture]))
    .digest('hex');
  return { version, toolchain, key: `konnectivity-${version}-${digest.slice(0, 12)}` };
};
