/**
 * `spec.config` of a NetworkAttachmentDefinition of another plugin: one plugin, or a chain of them (CNI specification, sections 1 and
 * 3). What else is in there is the plugins'.
 */
import { z } from 'zod';
import { messageOf } from '../base/error-message.ts';
import { CNI_VERSIONS, type CniVersion } from './cni/version.ts';
import { ApiError } from './errors.ts';
import type { NadRef } from './net-conf.ts';
import { parseWith, readJson } from './parse.ts';

export interface ForeignConf {
  readonly cniVersion: CniVersion;
  /** Of the network. */
  readonly name: string;
  /** In the order of ADD: at least one. */
  readonly plugins: readonly ForeignPlugin[];
  readonly disableCheck: boolean;
}

export interface ForeignPlugin {
  /** Name of the program. */
  readonly type: string;
  /** Of the plugin that it asks for addresses. */
  readonly ipam?: string | undefined;
  /** Keys of `runtimeConfig` that it takes. */
  readonly capabilities: readonly string[];
  /** As it was written, without the network's name and version. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** etcd takes more, and an agent keeps each. */
const MAX_CONFIG_LENGTH = 65_536;
const MAX_PLUGINS = 16;

/** @throws ApiError when it cannot be executed */
export const parseForeignConf = (config: string | undefined, { namespace, name }: NadRef): ForeignConf => {
  const object = `NetworkAttachmentDefinition ${namespace}/${name}`;
  const refuse = (code: 'ERR_API_SYNTAX' | 'ERR_API_RULE', message: string, cause?: unknown): never => {
    throw new ApiError(code, `spec.config: ${message}`, { object, field: 'spec.config', cause });
  };
  const text = config ?? '';
  if (text.trim() === '') refuse('ERR_API_RULE', 'is empty, and configurations on the disk of a node are not read');
  if (text.length > MAX_CONFIG_LENGTH) refuse('ERR_API_RULE', `is longer than ${MAX_CONFIG_LENGTH} characters`);
  let value: unknown;
  try {
    value = readJson(text);
  } catch (cause) {
    refuse('ERR_API_SYNTAX', `is not JSON: ${messageOf(cause)}`, cause);
  }
  const twofold = twofoldKey(value);
  if (twofold !== undefined) refuse('ERR_API_RULE', `${twofold}: plugins would read it as another key`);
  const isList = typeof value === 'object' && value !== null && 'plugins' in value;
  return isList
    ? listOf(parseWith(listSchema, value, object), name)
    : singleOf(parseWith(singleSchema, value, object), name);
};

/**
 * Plugins take a key in any case for the one that they know, and of several the last (Go's encoding/json): what is not spelt as here would
 * pass by what is asked here.
 * @returns the first such key, or the first of two that are one to them
 */
const twofoldKey = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  const seen = new Set<string>();
  for (const [key, inner] of Object.entries(value)) {
    const folded = foldedKey(key);
    if (seen.has(folded) || (KNOWN_KEYS.get(folded) ?? key) !== key) return key;
    seen.add(folded);
    const found = twofoldKey(inner);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Letters that fold to ASCII ones, U+017F and U+212A, included. */
const foldedKey = (key: string): string => key.toUpperCase().toLowerCase();

/** Keys of hosts' paths, whatever is in them: a file name alone is relative to a folder that is not the author's to know. */
export const PATH_KEYS: ReadonlySet<string> = new Set(['dataDir', 'resolvConf', 'kubeconfig', 'daemonSocketPath']);

const KNOWN_KEYS: ReadonlyMap<string, string> = new Map(
  [
    ...['plugins', 'type', 'ipam', 'name', 'cniVersion', 'prevResult', 'runtimeConfig', 'capabilities', 'args'],
    ...PATH_KEYS,
  ].map((key) => [foldedKey(key), key]),
);

/** It is a file name in a folder of programs that root runs. */
const PROGRAM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const program = z.string().refine((text) => PROGRAM.test(text), 'is not the name of a plugin');

/** It becomes part of file names. */
const networkName = z
  .string()
  .refine(
    (text) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/.test(text),
    'has characters other than letters, digits, ".", "_" and "-"',
  )
  .optional();

/** That of a network of ours where it is not said. */
const version = z.enum(CNI_VERSIONS).default('0.3.1');
const ipam = z.looseObject({ type: z.union([z.literal(''), program]).optional() }).nullish();
const pluginSchema = z.looseObject({
  type: program,
  ipam,
  capabilities: z.record(z.string(), z.boolean()).nullish(),
});
const listSchema = z.object({
  cniVersion: version,
  name: networkName,
  disableCheck: z.boolean().default(false),
  plugins: z.array(z.unknown()).min(1).max(MAX_PLUGINS).pipe(z.array(pluginSchema)),
});
const singleSchema = pluginSchema.extend({ cniVersion: version, name: networkName });

/** Without a name it has that of the NAD (multi-net-spec v1.3, section 3.4.2). */
const listOf = (list: z.output<typeof listSchema>, nad: string): ForeignConf => ({
  cniVersion: list.cniVersion,
  name: list.name ?? nad,
  plugins: list.plugins.map(pluginOf),
  disableCheck: list.disableCheck,
});

const singleOf = ({ cniVersion, name, ...plugin }: z.output<typeof singleSchema>, nad: string): ForeignConf => ({
  cniVersion,
  name: name ?? nad,
  plugins: [pluginOf(plugin)],
  disableCheck: false,
});

/** What the agent adds is not the author's to write: what a plugin is told of the runtime, and of the plugins before it. */
const pluginOf = (plugin: z.output<typeof pluginSchema>): ForeignPlugin => {
  const { cniVersion: _, name: __, prevResult: ___, runtimeConfig: ____, ...config } = plugin;
  return {
    type: plugin.type,
    ipam: plugin.ipam?.type || undefined,
    capabilities: Object.entries(plugin.capabilities ?? {}).flatMap(([key, isTaken]) => (isTaken ? [key] : [])),
    config,
  };
};
