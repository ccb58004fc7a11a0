/** CNI configuration as a container runtime reads it: the first valid file of a folder, libcni's rules. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../../base/error-message.ts';
import { hasSystemCode } from '../../errors.ts';

/** A plugin's part of the configuration; what else is in there is the plugin's. */
const plugin = z.looseObject({ type: z.string().min(1) });

const list = z.looseObject({
  cniVersion: z.string().default('0.2.0'),
  /** Those that it is valid for, since 1.1.0: the highest that the runtime knows is taken. */
  cniVersions: z.array(z.string()).default([]),
  name: z.string().min(1),
  plugins: z.array(plugin).min(1),
  disableGC: z.boolean().default(false),
});

const single = z.looseObject({
  cniVersion: z.string().default('0.2.0'),
  name: z.string().min(1),
  type: z.string().min(1),
});

export type PluginConf = z.infer<typeof plugin>;

export interface NetworkConf {
  readonly cniVersion: string;
  readonly name: string;
  readonly plugins: readonly PluginConf[];
  readonly disableGC: boolean;
}

export type ConfState =
  | { readonly conf: NetworkConf }
  /** Why there is none. */
  | { readonly conf: undefined; readonly reason: string };

/** Files that can't be used are passed over, and named in the reason when none is left. */
export const loadNetworkConf = async (folder: string): Promise<ConfState> => {
  const problems: string[] = [];
  for (const name of await confFiles(folder)) {
    try {
      return { conf: parseNetworkConf(await readFile(join(folder, name), 'utf8'), name) };
    } catch (error) {
      problems.push(`${name}: ${reasonOf(error)}`);
    }
  }
  return { conf: undefined, reason: problems.join('; ') || `no CNI configuration in ${folder}` };
};

/** @param file decides, by its suffix, whether a single plugin or a list is in it */
export const parseNetworkConf = (content: string, file: string): NetworkConf => {
  const value: unknown = JSON.parse(content);
  if (file.endsWith('.conflist')) {
    const { cniVersion, cniVersions, ...rest } = list.parse(value);
    return { ...rest, cniVersion: highestKnown([cniVersion, ...cniVersions]) ?? cniVersion };
  }
  const { cniVersion, name, ...rest } = single.parse(value);
  return { cniVersion, name, plugins: [{ ...rest, type: rest.type }], disableGC: false };
};

/** As a runtime with libcni 1.2. */
const RUNTIME_VERSION = '1.1.0';

const highestKnown = (versions: readonly string[]): string | undefined =>
  versions.filter((version) => isAtLeast(RUNTIME_VERSION, version)).toSorted((a, b) => (isAtLeast(a, b) ? -1 : 1))[0];

/** True when `version` is at least `wanted`; both are `x.y.z`. */
export const isAtLeast = (version: string, minimum: string): boolean => {
  const [a, b] = [version, minimum].map((text) => text.split('.').map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
};

const confFiles = async (folder: string): Promise<string[]> => {
  try {
    return (await readdir(folder)).filter((name) => /\.(conf|conflist|json)$/.test(name)).sort();
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return [];
    throw error;
  }
};

const reasonOf = (error: unknown): string => {
  if (error instanceof z.ZodError) {
    const [issue] = error.issues;
    return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`;
  }
  return messageOf(error);
};
