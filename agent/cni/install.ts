/** Puts the plugin and its configuration where the container runtime looks for them. */
import { copyFile, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { CNI_NETWORK_NAME, CNI_PLUGIN_TYPE } from '../../api/names.ts';
import { codeOf } from '../../base/error-code.ts';
import type { MultiNetwork } from '../model/view.ts';

/** Runtimes take the first file of the folder in the order of names. */
export const CONFIGURATION = '10-ovn-kubernetes.conflist';
/** The name of peers, and of ours before: it would come before the list. */
const EARLIER = '10-ovn-kubernetes.conf';

/**
 * Runtimes with libcni before 1.2, as containerd 1.7, take no result of version 1.1.0 and don't know `cniVersions`; others
 * take the highest that they know of both, and with 1.1.0 ask STATUS and GC (SPEC.md 1.1.0, section 1). Only a list has it.
 */
const NETWORK = {
  cniVersion: '1.0.0',
  cniVersions: ['1.0.0', '1.1.0'],
  name: CNI_NETWORK_NAME,
  plugins: [{ type: CNI_PLUGIN_TYPE, ipam: {}, dns: {} }],
};

/** Multus knows 1.1.0 and hands a result of it on to a runtime that does not. */
const UNDER_MULTUS = { ...NETWORK, cniVersions: ['1.0.0'] };

const networkOf = (multiNetwork: MultiNetwork): typeof NETWORK =>
  multiNetwork === 'delegated' ? UNDER_MULTUS : NETWORK;

/** @param shim the static program that `make build` makes @returns whether it was not there, or another one */
export const installPlugin = async (shim: string, folder: string): Promise<boolean> => {
  const target = join(folder, CNI_PLUGIN_TYPE);
  if (await isSame(shim, target)) return false;
  await replace(target, (draft) => copyFile(shim, draft));
  return true;
};

/** A name that runtimes know: containerd runs it for each pod, and no pod starts on a node that has none (cni-shim/README.md). */
const LOOPBACK = 'loopback';
/** In every copy of the shim, and in no other plugin. */
const MARK = 'udn-cni/1 ';

/** The shim is that plugin, too, by its name. One that is not the shim is kept. @param shim and result as for `installPlugin` */
export const installLoopback = async (shim: string, folder: string): Promise<boolean> => {
  const target = join(folder, LOOPBACK);
  const found = await lstat(target).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  // A link may lead to a file of the host that is not visible from here.
  if (found !== undefined && !found.isFile()) return false;
  const current = found === undefined ? undefined : await readFile(target);
  if (current !== undefined && (!current.includes(MARK) || current.equals(await readFile(shim)))) return false;
  await replace(target, (draft) => copyFile(shim, draft));
  return true;
};

/**
 * To be called when pods can be added: the kubelet takes the node for ready when it sees the file. A list that others have added to is
 * kept while it begins with ours: service meshes put their plugins behind it.
 * @returns whether it was not there, or another one
 */
export const installConfiguration = async (folder: string, multiNetwork: MultiNetwork): Promise<boolean> => {
  const target = join(folder, CONFIGURATION);
  const network = networkOf(multiNetwork);
  const current = await readFile(target, 'utf8').catch(() => undefined);
  const differs = current === undefined || !beginsWith(network, current);
  const content = `${JSON.stringify(network, undefined, 2)}\n`;
  if (differs) await replace(target, (draft) => writeFile(draft, content, { mode: 0o644 }));
  const earlier = join(folder, EARLIER);
  if ((await ownerOf(earlier)) === 'us') await rm(earlier, { force: true });
  return differs;
};

const listSchema = z.looseObject({ plugins: z.tuple([z.unknown()], z.unknown()) });

const beginsWith = (network: typeof NETWORK, content: string): boolean => {
  try {
    const { plugins, ...list } = listSchema.parse(JSON.parse(content));
    return isDeepStrictEqual({ ...list, plugins: [plugins[0]] }, network);
  } catch {
    return false;
  }
};

/** Takes all of them away, unless the configuration is another's. */
export const uninstall = async (folders: {
  readonly cniBinFolder: string;
  readonly cniConfFolder: string;
}): Promise<void> => {
  const configurations = [CONFIGURATION, EARLIER].map((name) => join(folders.cniConfFolder, name));
  const owners = await Promise.all(configurations.map(ownerOf));
  if (owners.includes('another')) return;
  for (const path of configurations) await rm(path, { force: true });
  await rm(join(folders.cniBinFolder, CNI_PLUGIN_TYPE), { force: true });
  const loopback = join(folders.cniBinFolder, LOOPBACK);
  if ((await readFile(loopback).catch(() => undefined))?.includes(MARK) === true) await rm(loopback, { force: true });
};

/** Whose configuration it is; undefined when there is none. */
const ownerOf = async (path: string): Promise<'us' | 'another' | undefined> => {
  const content = await readFile(path, 'utf8').catch(() => '');
  if (content === '') return undefined;
  return content.includes(`"${CNI_PLUGIN_TYPE}"`) ? 'us' : 'another';
};

const isSame = async (a: string, b: string): Promise<boolean> => {
  const [first, second] = await Promise.all([readFile(a), readFile(b).catch(() => undefined)]);
  return second !== undefined && first.equals(second);
};

/** By renaming: a program that is being executed cannot be overwritten, and a half-written file must not be read. */
const replace = async (target: string, write: (draft: string) => Promise<void>): Promise<void> => {
  await mkdir(dirname(target), { recursive: true });
  // Of one name: errors that name it are equal, and a killed agent leaves no more than one.
  const draft = `${target}.draft`;
  try {
    await write(draft);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
};
