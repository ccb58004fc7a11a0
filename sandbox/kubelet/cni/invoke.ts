/** Runs CNI plugins as libcni does. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CommandError } from '../../../datapath/exec/errors.ts';
import { commandRunner } from '../../process/runner.ts';
import { isAtLeast, type NetworkConf, type PluginConf } from './conf.ts';
import { type Attachment, attachmentEnvironment, CNI_PATH, networkEnvironment, pluginInput } from './request.ts';

/** A plugin's refusal. `code` is one of the CNI specification, or 999 when the plugin said nothing that is CNI. */
export class CniFailure extends Error {
  override readonly name = 'CniFailure';
  readonly code: number;

  constructor(code: number, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

export interface Cni {
  /** The result of the last plugin. @throws CniFailure */
  add(conf: NetworkConf, attachment: Attachment): Promise<unknown>;
  /** @param result of ADD, when it is known @throws CniFailure */
  delete(conf: NetworkConf, attachment: Attachment, result: unknown): Promise<void>;
  /** Fulfilled also for versions that have no STATUS. @throws CniFailure */
  status(conf: NetworkConf): Promise<void>;
  /** Nothing for versions that have no GC. @throws CniFailure */
  collectGarbage(conf: NetworkConf, valid: readonly Pick<Attachment, 'containerId' | 'ifName'>[]): Promise<void>;
}

const TIMEOUT_MS = 150_000;
const NO_CNI_ERROR = 999;

const errorSchema = z.object({ code: z.number(), msg: z.string().default(''), details: z.string().default('') });

export const createCni = (path: readonly string[] = CNI_PATH): Cni => {
  const runner = commandRunner();
  const call = async (plugin: PluginConf, env: Record<string, string>, input: string): Promise<string> => {
    const file = await findPlugin(plugin.type, path);
    try {
      return (await runner.run({ file, args: [], env, input, timeoutMs: TIMEOUT_MS })).stdout;
    } catch (error) {
      throw failureOf(plugin.type, error);
    }
  };
  return {
    add: async (conf, attachment) => {
      let prevResult: unknown;
      for (const plugin of conf.plugins) {
        const more = prevResult === undefined ? {} : { prevResult };
        const output = await call(plugin, attachmentEnvironment('ADD', attachment), pluginInput(conf, plugin, more));
        prevResult = parseOutput(plugin.type, output);
      }
      return prevResult;
    },
    delete: async (conf, attachment, result) => {
      const more = result === undefined || !isAtLeast(conf.cniVersion, '0.4.0') ? {} : { prevResult: result };
      for (const plugin of conf.plugins.toReversed()) {
        await call(plugin, attachmentEnvironment('DEL', attachment), pluginInput(conf, plugin, more));
      }
    },
    status: async (conf) => {
      if (!isAtLeast(conf.cniVersion, '1.1.0')) return;
      for (const plugin of conf.plugins) await call(plugin, networkEnvironment('STATUS'), pluginInput(conf, plugin));
    },
    collectGarbage: async (conf, valid) => {
      if (!isAtLeast(conf.cniVersion, '1.1.0') || conf.disableGC) return;
      const attachments = valid.map(({ containerId, ifName }) => ({ containerID: containerId, ifname: ifName }));
      const more = { 'cni.dev/valid-attachments': attachments };
      for (const plugin of conf.plugins) await call(plugin, networkEnvironment('GC'), pluginInput(conf, plugin, more));
    },
  };
};

const findPlugin = async (type: string, path: readonly string[]): Promise<string> => {
  for (const folder of path) {
    const file = join(folder, type);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere && !type.includes('/')) return file;
  }
  throw new CniFailure(NO_CNI_ERROR, `failed to find plugin "${type}" in path [${path.join(' ')}]`);
};

const parseOutput = (type: string, output: string): unknown => {
  try {
    return JSON.parse(output);
  } catch (cause) {
    throw new CniFailure(NO_CNI_ERROR, `plugin ${type} printed no result: ${output.slice(0, 200)}`, { cause });
  }
};

/** A plugin prints its error to stdout. */
const failureOf = (type: string, error: unknown): CniFailure => {
  if (!(error instanceof CommandError)) return new CniFailure(NO_CNI_ERROR, String(error), { cause: error });
  try {
    const { code, msg, details } = errorSchema.parse(JSON.parse(error.stdout));
    return new CniFailure(code, details === '' ? msg : `${msg}; ${details}`, { cause: error });
  } catch {
    return new CniFailure(NO_CNI_ERROR, `plugin ${type} failed: ${error.message}`, { cause: error });
  }
};
