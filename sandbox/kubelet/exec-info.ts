/** How to run a command in a pod: written by the kubelet of the pod's node, read by the supervisor. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { hasSystemCode, SandboxError } from '../errors.ts';
import type { Machine } from '../machine/types.ts';
import { EXEC_FOLDER, execFile } from './paths.ts';

export const execInfo = z.object({
  containers: z.array(
    z.object({
      name: z.string(),
      /** A command line of the node, to be followed by `--` and the command. */
      prefix: z.array(z.string()),
    }),
  ),
});

export type ExecInfo = z.infer<typeof execInfo>;

export interface PodTarget {
  readonly namespace: string;
  readonly pod: string;
  /** Default: the first. */
  readonly container?: string | undefined;
}

/** @throws SandboxError ERR_SANDBOX_NOT_FOUND when no node runs the pod or the pod has no such container */
export const podCommand = async (
  nodes: readonly Machine[],
  { namespace, pod, container }: PodTarget,
): Promise<{ readonly node: Machine; readonly prefix: readonly string[] }> => {
  for (const node of nodes) {
    const info = await readInfo(node.pathOf(join(EXEC_FOLDER, execFile(namespace, pod))));
    if (info === undefined) continue;
    const found = container === undefined ? info.containers[0] : info.containers.find(({ name }) => name === container);
    if (found !== undefined) return { node, prefix: found.prefix };
    throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `pod ${namespace}/${pod} runs no container ${container ?? ''}`);
  }
  throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `no node runs a pod ${namespace}/${pod}`);
};

const readInfo = async (path: string): Promise<ExecInfo | undefined> => {
  try {
    return execInfo.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};
