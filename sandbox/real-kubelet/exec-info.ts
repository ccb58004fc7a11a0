/** How to run a command in a pod of a real kubelet: read from what containerd keeps of the containers that run. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { hasSystemCode, SandboxError } from '../errors.ts';
import type { PodTarget } from '../kubelet/exec-info.ts';
import { NODE_TOOLBOX } from '../machine/node-root.ts';
import type { Machine } from '../machine/types.ts';

/** On a node: a folder for each task, runtime v2 of containerd. */
const TASKS = '/run/containerd/io.containerd.runtime.v2.task/k8s.io';

/** The part of an OCI bundle's `config.json` that says whose it is and what its processes have. */
const bundle = z.object({
  annotations: z.record(z.string(), z.string()).default({}),
  process: z.object({ env: z.array(z.string()).default([]) }),
  linux: z.object({ cgroupsPath: z.string() }),
});

type Bundle = z.infer<typeof bundle>;

interface RunningContainer {
  readonly bundle: Bundle;
  readonly pid: number;
  readonly startedMs: number;
}

/**
 * @returns a command line of the node, to be followed by `--` and the command
 * @throws SandboxError ERR_SANDBOX_NOT_FOUND when no node runs the pod or the pod has no such container
 */
export const realPodCommand = async (
  nodes: readonly Machine[],
  target: PodTarget,
): Promise<{ readonly node: Machine; readonly prefix: readonly string[] }> => {
  const { namespace, pod, container } = target;
  for (const node of nodes) {
    const containers = (await runningContainers(node)).filter((one) => isOf(one.bundle, target));
    if (containers.length === 0) continue;
    // The kubelet starts them in the order of the pod's specification.
    const named = containers.toSorted((a, b) => a.startedMs - b.startedMs);
    const found = container === undefined ? named[0] : named.find((one) => nameOf(one.bundle) === container);
    if (found !== undefined) return { node, prefix: enterArguments(found.bundle, found.pid) };
    throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `pod ${namespace}/${pod} runs no container ${container ?? ''}`);
  }
  throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `no node runs a pod ${namespace}/${pod}`);
};

const isOf = ({ annotations }: Bundle, { namespace, pod }: PodTarget): boolean =>
  annotations['io.kubernetes.cri.container-type'] === 'container' &&
  annotations['io.kubernetes.cri.sandbox-namespace'] === namespace &&
  annotations['io.kubernetes.cri.sandbox-name'] === pod;

const nameOf = ({ annotations }: Bundle): string | undefined => annotations['io.kubernetes.cri.container-name'];

export const enterArguments = ({ process: { env }, linux }: Bundle, pid: number): string[] => [
  ...[NODE_TOOLBOX, 'enter', '--target', String(pid)],
  ...['--cgroup', `/sys/fs/cgroup${linux.cgroupsPath}`],
  ...['--clear-env', ...env.flatMap((variable) => ['--env', variable])],
];

const runningContainers = async (node: Machine): Promise<RunningContainer[]> => {
  const folder = node.pathOf(TASKS);
  const ids = await ifThere(readdir(folder));
  const containers = await Promise.all((ids ?? []).map((id) => ifThere(readContainer(join(folder, id)))));
  return containers.filter((one) => one !== undefined);
};

const readContainer = async (folder: string): Promise<RunningContainer> => {
  const [config, pid, { mtimeMs }] = await Promise.all([
    readFile(join(folder, 'config.json'), 'utf8'),
    readFile(join(folder, 'init.pid'), 'utf8'),
    stat(join(folder, 'init.pid')),
  ]);
  return { bundle: bundle.parse(JSON.parse(config)), pid: Number(pid), startedMs: mtimeMs };
};

/** A container that is on its way, or that ends meanwhile, has no files yet or no more. */
const ifThere = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
};
