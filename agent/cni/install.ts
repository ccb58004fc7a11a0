/** Puts the plugin and its configuration where the container runtime looks for them. */
import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LATEST_CNI_VERSION } from '../../api/cni/version.ts';
import { CNI_NETWORK_NAME, CNI_PLUGIN_TYPE } from '../../api/names.ts';

/** The name that tools know; runtimes take the first file of the folder in the order of names. */
const CONFIGURATION = '10-ovn-kubernetes.conf';

/** @param shim the static program that `make build` makes */
export const installPlugin = async (shim: string, folder: string): Promise<void> => {
  const target = join(folder, CNI_PLUGIN_TYPE);
  if (await isSame(shim, target)) return;
  await replace(target, (draft) => copyFile(shim, draft));
};

/** To be called when pods can be added: the kubelet takes the node for ready when it sees the file. */
export const installConfiguration = async (folder: string): Promise<void> => {
  const content = `${JSON.stringify({ cniVersion: LATEST_CNI_VERSION, name: CNI_NETWORK_NAME, type: CNI_PLUGIN_TYPE, ipam: {}, dns: {} }, undefined, 2)}\n`;
  const target = join(folder, CONFIGURATION);
  const current = await readFile(target, 'utf8').catch(() => undefined);
  if (current !== content) await replace(target, (draft) => writeFile(draft, content, { mode: 0o644 }));
};

/** Takes both away, unless the configuration is another's. */
export const uninstall = async (folders: {
  readonly cniBinFolder: string;
  readonly cniConfFolder: string;
}): Promise<void> => {
  const configuration = join(folders.cniConfFolder, CONFIGURATION);
  const content = await readFile(configuration, 'utf8').catch(() => '');
  if (content !== '' && !content.includes(`"${CNI_PLUGIN_TYPE}"`)) return;
  await rm(configuration, { force: true });
  await rm(join(folders.cniBinFolder, CNI_PLUGIN_TYPE), { force: true });
};

const isSame = async (a: string, b: string): Promise<boolean> => {
  const [first, second] = await Promise.all([readFile(a), readFile(b).catch(() => undefined)]);
  return second !== undefined && first.equals(second);
};

/** By renaming: a program that is being executed cannot be overwritten, and a half-written file must not be read. */
const replace = async (target: string, write: (draft: string) => Promise<void>): Promise<void> => {
  await mkdir(dirname(target), { recursive: true });
  const draft = `${target}.${randomBytes(4).toString('hex')}`;
  try {
    await write(draft);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
};
