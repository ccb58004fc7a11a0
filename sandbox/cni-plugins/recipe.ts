/** What CNI plugins of others are built of, and under which name they are kept. Pure. */
import { createHash } from 'node:crypto';
import { SandboxError } from '../errors.ts';
import { GO_FLAGS, type Recipe, type RecipeInput } from '../kubernetes/recipe.ts';

const CONTAINERNETWORKING = 'github.com/containernetworking/plugins';
const MULTUS = 'gopkg.in/k8snetworkplumbingwg/multus-cni.v4';

/** By the name of the plugin, its Go package. */
export const PACKAGES = {
  bandwidth: `${CONTAINERNETWORKING}/plugins/meta/bandwidth`,
  bridge: `${CONTAINERNETWORKING}/plugins/main/bridge`,
  'host-local': `${CONTAINERNETWORKING}/plugins/ipam/host-local`,
  // The thin one, which needs no daemon.
  multus: `${MULTUS}/cmd/multus`,
  portmap: `${CONTAINERNETWORKING}/plugins/meta/portmap`,
  tuning: `${CONTAINERNETWORKING}/plugins/meta/tuning`,
} as const;

export type CniPlugin = keyof typeof PACKAGES;
export const CNI_PLUGINS: readonly CniPlugin[] = [
  ...(['bandwidth', 'bridge', 'host-local', 'multus', 'portmap', 'tuning'] as const),
];

/** A Go module of ours that pins one of others, of which plugins are built: each with the versions of its dependencies. */
export interface PluginModule {
  /** For people. */
  readonly title: string;
  /** Begins the name in the cache. */
  readonly key: string;
  /** The folder of go.mod, in the folder of this file. */
  readonly folder: string;
  /** The path of the module of others. */
  readonly path: string;
}

export const MODULES: readonly PluginModule[] = [
  { title: 'the CNI plugins', key: 'cni-plugins', folder: '', path: CONTAINERNETWORKING },
  { title: 'Multus', key: 'multus', folder: 'multus', path: MULTUS },
];

export const pluginsOf = ({ path }: PluginModule, names: readonly CniPlugin[]): CniPlugin[] =>
  names.filter((name) => PACKAGES[name].startsWith(`${path}/`));

export const LINKER_FLAGS = '-s -w';

/** @throws SandboxError ERR_SANDBOX_MACHINE when go.mod does not name the versions */
export const pluginRecipe = (module: PluginModule, { goMod, goSum, architecture }: RecipeInput): Recipe => {
  const required = goMod.split('\n').flatMap((line) => /^(?:require|\t)\s*(\S+) (v\S+)/.exec(line)?.slice(1) ?? []);
  const version = required[required.indexOf(module.path) + 1];
  const toolchain = /^toolchain (go\S+)/m.exec(goMod)?.[1];
  if (!required.includes(module.path) || version === undefined || toolchain === undefined) {
    throw new SandboxError('ERR_SANDBOX_MACHINE', `go.mod of ${module.title} names no version or no toolchain`);
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([goMod, goSum, GO_FLAGS, LINKER_FLAGS, architecture]))
    .digest('hex');
  return { version, toolchain, key: `${module.key}-${version}-${digest.slice(0, 12)}` };
};
