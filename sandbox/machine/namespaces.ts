/**
 * Machines made of namespaces. The first process of each is `toolbox pause`, whose stdin this process holds: when this
 * process dies, however that happens, the kernel ends everything in them. Nothing is pinned to a file.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SandboxError } from '../errors.ts';
import type { CommandLine, EnterOptions, Machine } from './types.ts';

export interface NamespaceSpec {
  readonly name: string;
  readonly toolbox: string;
  /** Of this machine's unified hierarchy, where the machine's own cgroup is made, of its name. Has to exist. */
  readonly cgroupRoot: string;
  readonly log: string;
  readonly sysctls?: readonly string[];
  /** Beside pids and cgroups. Absent: it uses the network of this machine. */
  readonly hasNetwork?: boolean;
  /** Absent: it sees the files of this machine. */
  readonly root?: RootSpec;
}

export interface RootSpec {
  /** An empty folder to mount on; what is mounted there is seen only inside. */
  readonly staging: string;
  /** The Debian tree, and below it others: separated by colons, as the overlay file system takes them. */
  readonly lower: string;
  readonly binds: readonly { readonly source: string; readonly target: string }[];
  readonly folders: readonly string[];
}

/** For commands that run there without an environment of their own. */
const BASE_ENV: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
};

/** Resolves when the namespaces are there and the root is mounted; rejects when `signal` aborts before. */
export const startNamespaces = async (spec: NamespaceSpec, signal: AbortSignal): Promise<Machine> => {
  signal.throwIfAborted();
  const child = spawn(spec.toolbox, pauseArguments(spec), { stdio: ['pipe', 'pipe', 'pipe'] });
  // The first process goes with the one that waits for it.
  const onAbort = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', onAbort, { once: true });
  const log = createWriteStream(spec.log, { flags: 'a' });
  // Whoever gives up takes the folder away, maybe before the file is there.
  log.on('error', () => child.stderr.resume());
  child.stderr.pipe(log);
  child.stdin.on('error', () => {});
  const ended = endOf(child, spec.name);
  const pid = await Promise.race([firstPid(child), ended.then(() => undefined)]);
  signal.removeEventListener('abort', onAbort);
  if (pid === undefined) throw new SandboxError('ERR_SANDBOX_PART', `${await ended} before it was ready`);
  return machineOf(spec, pid, ended);
};

const pauseArguments = (spec: NamespaceSpec): string[] => [
  'pause',
  '--until-eof',
  ...['--unshare', namespacesOf(spec)],
  ...['--cgroup-root', spec.cgroupRoot, '--cgroup', spec.name],
  ...(spec.sysctls ?? []).flatMap((setting) => ['--sysctl', setting]),
  ...(spec.root === undefined ? [] : rootArguments(spec.name, spec.root)),
];

const namespacesOf = ({ hasNetwork = false, root }: NamespaceSpec): string =>
  ['pid', 'cgroup', ...(hasNetwork ? ['net'] : []), ...(root === undefined ? [] : ['mnt', 'uts', 'ipc'])].join(',');

const rootArguments = (name: string, { staging, lower, binds, folders }: RootSpec): string[] => [
  ...['--hostname', name],
  ...['--staging', staging],
  ...['--lower', lower],
  ...binds.flatMap(({ source, target }) => ['--bind', `${source}:${target}`]),
  ...folders.flatMap((folder) => ['--folder', folder]),
];

const endOf = (child: ChildProcess, name: string): Promise<string> =>
  new Promise((resolve) => {
    child.on('error', (error) => resolve(`${name} could not be started: ${error.message}`));
    child.on('exit', (code, signal) => resolve(`${name} ended with ${signal ?? `status ${code}`}`));
  });

const firstPid = (child: ChildProcess): Promise<number | undefined> =>
  new Promise((resolve) => {
    if (child.stdout === null) return resolve(undefined);
    const lines = createInterface(child.stdout);
    lines.once('line', (line) => resolve(Number(line)));
    lines.once('close', () => resolve(undefined));
  });

const machineOf = (spec: NamespaceSpec, pid: number, ended: Promise<string>): Machine => ({
  name: spec.name,
  pid,
  ended,
  enter: (argv, options = {}) => enterCommand(spec, pid, argv, options),
  pathOf: (path) => (spec.root === undefined ? path : join(`/proc/${pid}/root`, path)),
});

const enterCommand = (
  spec: NamespaceSpec,
  pid: number,
  argv: readonly string[],
  { cgroup = 'user.slice', env = {}, workdir, reportPid }: EnterOptions,
): CommandLine => ({
  file: spec.toolbox,
  args: [
    ...['enter', '--target', String(pid)],
    ...['--ns', namespacesOf(spec)],
    ...['--cgroup-root', join(spec.cgroupRoot, spec.name), '--cgroup', cgroup],
    '--clear-env',
    ...Object.entries({ ...BASE_ENV, ...env }).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...(workdir === undefined ? [] : ['--workdir', workdir]),
    ...(reportPid === undefined ? [] : ['--report-pid', String(reportPid)]),
    ...['--', ...argv],
  ],
});
