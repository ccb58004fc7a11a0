/** Which CNI configurations of a node the container runtime reads before ours, and whether Multus is the one that it takes. */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { z } from 'zod';
import { CNI_PLUGIN_TYPE } from '../../api/names.ts';

/** As libcni reads a folder: containerd and CRI-O take the first of the names in their order. */
const EXTENSIONS: ReadonlySet<string> = new Set(['.conf', '.conflist', '.json']);

export interface ForeignConfiguration {
  readonly file: string;
  /** Types of its plugins; empty: it cannot be read. */
  readonly plugins: readonly string[];
}

/**
 * Those whose name comes before `own`, which is the file that has ours. Multus is none: it calls the plugin of its default network,
 * which is ours where it is set up as docs/cni.md says.
 */
export const foreignConfigurations = async (folder: string, own: string): Promise<ForeignConfiguration[]> =>
  (await configurationsBefore(folder, own)).filter(
    ({ plugins }) => !plugins.some((type) => type === CNI_PLUGIN_TYPE || MULTUS.test(type)),
  );

/**
 * The configuration of Multus that the container runtime takes instead of `own`; undefined: it calls others, or ours, for a pod.
 * One that cannot be read is passed over, as runtimes do.
 */
export const multusConfiguration = async (folder: string, own: string): Promise<string | undefined> => {
  const first = (await configurationsBefore(folder, own)).find(({ plugins }) => plugins.length > 0);
  return first?.plugins.some((type) => MULTUS.test(type)) === true ? first.file : undefined;
};

const configurationsBefore = async (folder: string, own: string): Promise<ForeignConfiguration[]> => {
  const names = (await readdir(folder)).filter((name) => EXTENSIONS.has(extname(name)) && name < own).sort();
  return await Promise.all(
    names.map(async (name) => ({ file: join(folder, name), plugins: await pluginsOf(join(folder, name)) })),
  );
};

const MULTUS = /^multus(?:-shim)?$/;

const plugin = z.object({ type: z.string() });
const configurationSchema = z.union([
  z.object({ plugins: z.array(plugin) }).transform(({ plugins }) => plugins.map(({ type }) => type)),
  plugin.transform(({ type }) => [type]),
]);

const pluginsOf = async (path: string): Promise<string[]> => {
  try {
    return configurationSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return [];
  }
};
