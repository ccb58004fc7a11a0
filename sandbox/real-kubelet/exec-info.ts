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
    const named = ofNewestSandbox(containers.toSorted((a, b) => a.startedMs - b.startedMs));
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

/** A pod that was deleted by force still runs for a while beside its successor of the same name. @param sorted by start */
const ofNewestSandbox = (sorted: readonly RunningContainer[]): readonly RunningContainer[] => {
  const newest = sandboxOf(sorted.at(-1));
  return sorted.filter((one) => sandboxOf(one) === newest);
};

const sandboxOf = (container: RunningContainer | undefined): string | undefined =>
  container?.bundle.annotations['io.kubernetes.cri.sandbox-id'];

const nameOf = ({ annotations }: Bundle): string | undefined => annotations['io.kubernetes.cri.container-name'];

export const enterArguments = ({ process: { env }, linux }: Bundle, pid: number): string[] => [
  ...[NODE_TOOLBOX, 'enter', '--target', String(pid)],
  ...['--cgroup', `/sys/fs/cgroup${linux.cgroupsPath}`],
  ...['--clear-env', ...env.flatMap((variable) => ['--env', variable])],
];

const runningContainers = async (node: Machine): Promise<RunningContainer[]> => {
  const ids = await ifThere(readdir(node.pathOf(TASKS)));
  const containers = await Promise.all((ids ?? []).map((id) => ifThere(readContainer(node, id))));
  return containers.filter((one) => one !== undefined);
};

/**
 * The process's number is written last, by crun: only then is the configuration complete. A containerd that was killed leaves the
 * folders of containers that end meanwhile, and their numbers go to other processes: only one in the container's cgroup is meant.
 */
const readContainer = async (node: Machine, id: string): Promise<RunningContainer | undefined> => {
  const folder = node.pathOf(join(TASKS, id));
  const file = join(folder, 'init.pid');
  const pid = Number(await readFile(file, 'utf8'));
  if (pid <= 0) return undefined;
  const [config, { mtimeMs }, cgroups] = await Promise.all([
    readFile(join(folder, 'config.json'), 'utf8'),
    stat(file),
    readFile(node.pathOf(`/proc/${pid}/cgroup`), 'utf8'),
  ]);
  const parsed = bundle.parse(JSON.parse(config));
  return isIn(parsed.linux.cgroupsPath, cgroups) ? { bundle: parsed, pid, startedMs: mtimeMs } : undefined;
};

/** @param cgroups of a process, cgroups(7): the line `0::` is of version 2, as this process sees it: from the root of the machine */
const isIn = (cgroup: string, cgroups: string): boolean =>
  cgroups.split('\n').some((line) => line.startsWith('0::') && `${line}/`.includes(`${cgroup}/`));

/** A container that is on its way, or that ends meanwhile, has no files yet or no more; nor has a process that has ended. */
const ifThere = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR', 'ESRCH')) return undefined;
    throw error;
  }
};
