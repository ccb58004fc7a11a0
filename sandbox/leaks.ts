/** What of a sandbox is on this machine: for tests that nothing is left, and for finding what is. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hasSystemCode } from './errors.ts';
import { cgroupsFolder } from './machine/cgroups.ts';
import { BRIDGE } from './plan/netplan.ts';
import { stateFolder } from './supervisor/state-folder.ts';

/** What a sandbox's processes were in. */
export interface Namespaces {
  /** By their identity, for example `net:[4026532]`. The kernel gives a number again as soon as it is free. */
  readonly ids: ReadonlySet<string>;
  /** In clock ticks since boot: a process that started later is in a new namespace that has the number of an old one. */
  readonly asOf: number;
  /** Ids of the containers of real kubelets: containerd names cgroups, mounts and its shims by them. */
  readonly containers: ReadonlySet<string>;
}

const KINDS = ['net', 'mnt', 'pid', 'uts', 'ipc', 'cgroup'] as const;

/**
 * One message per trace: processes, cgroups, mounts, links of this machine's own network, files.
 * @param namespaces of `namespacesOf` while the sandbox was up: processes that are still in them, whatever they are
 */
export const tracesOf = async (name: string, namespaces: Namespaces = NO_NAMESPACES): Promise<string[]> => {
  const found = await Promise.all([
    processTraces(name, namespaces),
    cgroupTraces(name),
    mountTraces(name),
    linkTraces(),
    fileTraces(name),
    containerTraces(namespaces.containers),
  ]);
  return found.flat();
};

/** The namespaces of the sandbox's processes, less those of this process. */
export const namespacesOf = async (name: string): Promise<Namespaces> => {
  const own = new Set(await namespacesOfProcess('self'));
  const processes = await allProcesses();
  const found = processes.filter((process) => isOf(process, name)).flatMap((process) => process.namespaces);
  return {
    ids: new Set(found.filter((namespace) => !own.has(namespace))),
    asOf: Math.max(0, ...processes.map(({ startTime }) => startTime)),
    containers: new Set(
      (await cgroupsBelow(join(await cgroupsFolder(), name))).map((path) => basename(path)).filter(isContainerId),
    ),
  };
};

/**
 * Resolves when nothing is left; the kernel takes a moment for what has just ended.
 * @throws Error with what is left after `timeoutMs`
 */
export const untilNothingIsLeft = async (name: string, namespaces?: Namespaces, timeoutMs = 5_000): Promise<void> => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const traces = await tracesOf(name, namespaces);
    if (traces.length === 0) return;
    if (performance.now() > deadline) throw new Error(`the sandbox "${name}" left:\n${traces.join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const NO_NAMESPACES: Namespaces = { ids: new Set(), asOf: 0, containers: new Set() };

interface ProcessFacts {
  readonly pid: string;
  /** In clock ticks since boot. */
  readonly startTime: number;
  readonly command: string;
  readonly cgroup: string;
  readonly namespaces: readonly string[];
}

const processTraces = async (name: string, namespaces: Namespaces): Promise<string[]> =>
  (await allProcesses())
    .filter((process) => isOf(process, name) || isIn(process, namespaces))
    .map(({ pid, command }) => `process ${pid}: ${command.slice(0, 200)}`);

const isIn = (process: ProcessFacts, { ids, asOf }: Namespaces): boolean =>
  process.startTime <= asOf && process.namespaces.some((namespace) => ids.has(namespace));

/** Its cgroup is the sandbox's, or its command line names a file or cgroup of it. */
const isOf = ({ pid, command, cgroup }: ProcessFacts, name: string): boolean => {
  const prefix = `/ovn-udn-sandbox/${name}`;
  const names = (text: string): boolean =>
    text.includes(`${prefix}/`) || text.includes(`${prefix} `) || text.endsWith(prefix);
  const isSupervisor = command.includes('supervise {') && command.includes(`"name":"${name}"`);
  return Number(pid) !== process.pid && (isSupervisor || names(cgroup) || names(command));
};

const allProcesses = async (): Promise<ProcessFacts[]> => {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const facts = await Promise.all(pids.map(readProcess));
  return facts.filter((process) => process !== undefined);
};

/** Undefined for one that ended meanwhile. */
const readProcess = async (pid: string): Promise<ProcessFacts | undefined> => {
  try {
    const [command, cgroups, stat] = await Promise.all([
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
      readFile(`/proc/${pid}/cgroup`, 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    // It has ended, and its parent has not waited for it yet.
    if (command === '') return undefined;
    return {
      pid,
      // proc_pid_stat(5), field 22; the second may contain anything.
      startTime: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]),
      command: command.replaceAll('\0', ' ').trim(),
      cgroup: /^0::(.*)$/m.exec(cgroups)?.[1] ?? '',
      namespaces: await namespacesOfProcess(pid),
    };
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
};

const namespacesOfProcess = async (pid: string): Promise<string[]> => {
  const links = await Promise.all(KINDS.map((kind) => readlink(`/proc/${pid}/ns/${kind}`).catch(() => '')));
  return links.filter((link) => link !== '');
};

const cgroupTraces = async (name: string): Promise<string[]> => {
  const path = join(await cgroupsFolder(), name);
  return (await exists(path)) ? [`cgroup ${path}`] : [];
};

const mountTraces = async (name: string): Promise<string[]> =>
  (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .filter((line) => line.includes(`/ovn-udn-sandbox/${name}/`))
    .map((line) => `mount ${line}`);

/** The sandbox's links are all in namespaces of its own: there is none here, whichever sandboxes are up. */
const linkTraces = async (): Promise<string[]> =>
  (await readdir('/sys/class/net'))
    .filter((link) => link === BRIDGE || link.startsWith('u-node-') || link === 'u-outside')
    .map((link) => `link ${link}`);

const fileTraces = async (name: string): Promise<string[]> => {
  const { path } = stateFolder(name);
  return (await exists(path)) ? [`folder ${path}`] : [];
};

const isContainerId = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

/** In any hierarchy of this machine, and outside of the sandbox's own folders. */
const containerTraces = async (ids: ReadonlySet<string>): Promise<string[]> => {
  if (ids.size === 0) return [];
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  const hierarchies = mounts.map((line) => line.split(' ')).filter(([, , type]) => type?.startsWith('cgroup'));
  const cgroups = await Promise.all(hierarchies.map(([, folder = '']) => cgroupsBelow(folder)));
  const names = (text: string): boolean => text.split(/[^0-9a-f]/).some((word) => ids.has(word));
  return [
    ...cgroups
      .flat()
      .filter((path) => names(basename(path)))
      .map((path) => `cgroup ${path}`),
    ...mounts.filter(names).map((line) => `mount ${line}`),
    ...(await allProcesses())
      .filter(({ command }) => names(command))
      .map(({ pid, command }) => `process ${pid}: ${command.slice(0, 200)}`),
  ];
};

const cgroupsBelow = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(ignoreGone);
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  return [...folders, ...(await Promise.all(folders.map(cgroupsBelow))).flat()];
};

const ignoreGone = (error: unknown): [] => {
  if (hasSystemCode(error, 'ENOENT', 'ENODEV')) return [];
  throw error;
};

const exists = async (path: string): Promise<boolean> => {
  try {
    await readdir(path);
    return true;
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return false;
    throw error;
  }
};
