/** What the plugins of containernetworking are built of, and under which name they are kept. Pure. */
import { createHash } from 'node:crypto';
import { SandboxError } from '../errors.ts';
import { GO_FLAGS, type Recipe, type RecipeInput } from '../kubernetes/recipe.ts';

const SOURCE = 'github.com/containernetworking/plugins/plugins';

/** By the name of the plugin, its Go package. */
export const PACKAGES = {
  bandwidth: `${SOURCE}/meta/bandwidth`,
  bridge: `${SOURCE}/main/bridge`,
  'host-local': `${SOURCE}/ipam/host-local`,
  portmap: `${SOURCE}/meta/portmap`,
  tuning: `${SOURCE}/meta/tuning`,
} as const;

export type CniPlugin = keyof typeof PACKAGES;
export const CNI_PLUGINS: readonly CniPlugin[] = ['bandwidth', 'bridge', 'host-local', 'portmap', 'tuning'];

export const LINKER_FLAGS = '-s -w';

/** @throws SandboxError ERR_SANDBOX_MACHINE when go.mod does not name the versions */
export const cniPluginsRecipe = ({ goMod, goSum, architecture }: RecipeInput): Recipe => {
  const version = /^(?:require|\t)\s*github\.com\/containernetworking\/plugins (v\S+)/m.exec(goMod)?.[1];
  const toolchain = /^toolchain (go\S+)/m.exec(goMod)?.[1];
  if (version === undefined || toolchain === undefined) {
    throw new SandboxError('ERR_SANDBOX_MACHINE', 'go.mod of sandbox/cni-plugins names no version or no toolchain');
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([goMod, goSum, GO_FLAGS, LINKER_FLAGS, architecture]))
    .digest('hex');
  return { version, toolchain, key: `cni-plugins-${version}-${digest.slice(0, 12)}` };
};
