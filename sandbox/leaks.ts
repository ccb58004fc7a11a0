/** What of a sandbox is on this machine: for tests that nothing is left, and for finding what is. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasSystemCode } from './errors.ts';
import { cgroupsFolder } from './machine/cgroups.ts';
import { BRIDGE } from './plan/netplan.ts';
import { stateFolder } from './supervisor/state-folder.ts';

/** Namespaces by their identity, for example `net:[4026532]`, with a process of the sandbox that is in them. */
export type Namespaces = ReadonlySet<string>;

const KINDS = ['net', 'mnt', 'pid', 'uts', 'ipc', 'cgroup'] as const;

/**
 * One sentence per trace: processes, cgroups, mounts, links of this machine's own network, files.
 * @param namespaces of `namespacesOf` while the sandbox was up: processes that are still in them, whatever they are
 */
export const tracesOf = async (name: string, namespaces: Namespaces = new Set()): Promise<string[]> => {
  const found = await Promise.all([
    processTraces(name, namespaces),
    cgroupTraces(name),
    mountTraces(name),
    linkTraces(),
    fileTraces(name),
  ]);
  return found.flat();
};

/** The namespaces of the sandbox's processes, less those of this process. */
export const namespacesOf = async (name: string): Promise<Namespaces> => {
  const own = new Set(await namespacesOfProcess('self'));
  const processes = (await allProcesses()).filter((process) => isOf(process, name));
  return new Set(processes.flatMap((process) => process.namespaces).filter((namespace) => !own.has(namespace)));
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

interface ProcessFacts {
  readonly pid: string;
  readonly command: string;
  readonly cgroup: string;
  readonly namespaces: readonly string[];
}

const processTraces = async (name: string, namespaces: Namespaces): Promise<string[]> =>
  (await allProcesses())
    .filter((process) => isOf(process, name) || process.namespaces.some((namespace) => namespaces.has(namespace)))
    .map(({ pid, command }) => `process ${pid}: ${command.slice(0, 200)}`);

/** Its cgroup is the sandbox's, or its command line names a file or cgroup of it. */
const isOf = ({ pid, command, cgroup }: ProcessFacts, name: string): boolean => {
  const place = `/ovn-udn-sandbox/${name}`;
  const names = (text: string): boolean =>
    text.includes(`${place}/`) || text.includes(`${place} `) || text.endsWith(place);
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
    const [command, cgroups] = await Promise.all([
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
      readFile(`/proc/${pid}/cgroup`, 'utf8'),
    ]);
    // It has ended, and its parent has not waited for it yet.
    if (command === '') return undefined;
    return {
      pid,
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

const exists = async (path: string): Promise<boolean> => {
  try {
    await readdir(path);
    return true;
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return false;
    throw error;
  }
};
