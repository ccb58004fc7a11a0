/** The folder of a running sandbox. Whoever owns it is the sandbox; it is made and taken over by rename(2). */
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { hasSystemCode, SandboxError } from '../errors.ts';
import { retryAbsent } from './retry-absent.ts';

export interface StateFolder {
  readonly path: string;
  /** Unix sockets: the control server's and the API server's. */
  readonly control: string;
  readonly api: string;
  /** A folder for what the API server keeps. */
  readonly apiData: string;
  /** For kubectl on this machine. */
  readonly kubeconfig: string;
  readonly logs: string;
  /** Folders to mount roots on, one per machine. */
  readonly mounts: string;
  readonly databases: string;
}

const owner = z.object({ pid: z.number(), startTime: z.string() });

/** `$XDG_RUNTIME_DIR/ovn-udn-sandbox`, or in `/run`. */
export const stateBase = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env['XDG_RUNTIME_DIR'] || '/run', 'ovn-udn-sandbox');

export const stateFolder = (name: string, base = stateBase()): StateFolder => {
  const path = join(base, name);
  return {
    path,
    control: join(path, 'control.sock'),
    api: join(path, 'api.sock'),
    apiData: join(path, 'api'),
    kubeconfig: join(path, 'kubeconfig'),
    logs: join(path, 'log'),
    mounts: join(path, 'mount'),
    databases: join(path, 'db'),
  };
};

/**
 * Makes the folder, owned by this process.
 * @param clean removes what a sandbox left that died without its janitor
 * @throws SandboxError ERR_SANDBOX_EXISTS when a living process owns it
 */
export const claimStateFolder = async (
  name: string,
  clean: (folder: StateFolder) => Promise<void>,
): Promise<StateFolder> => {
  const folder = stateFolder(name);
  const draft = await retryAbsent(async () => {
    await mkdir(stateBase(), { recursive: true, mode: 0o700 });
    return await mkdtemp(join(stateBase(), `.${name}-`));
  });
  try {
    for (const part of ['log', 'mount', 'db']) await mkdir(join(draft, part));
    await writeFile(
      join(draft, 'owner.json'),
      JSON.stringify({ pid: process.pid, startTime: await startTime('self') }),
    );
    if (await takeFolder(draft, folder)) return folder;
    await refuseLiving(name, folder);
    await clean(folder);
    if (await takeFolder(draft, folder)) return folder;
    throw new SandboxError('ERR_SANDBOX_EXISTS', `the sandbox "${name}" is being started by another process`);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

/** The process that owns the sandbox, when it lives. */
export const livingOwner = async ({ path }: StateFolder): Promise<number | undefined> => {
  try {
    const { pid, startTime: expected } = owner.parse(JSON.parse(await readFile(join(path, 'owner.json'), 'utf8')));
    return (await startTime(String(pid))) === expected ? pid : undefined;
  } catch {
    return undefined;
  }
};

/** Whether a process of this pid runs; one that has ended and was not waited for yet does not. */
export const isRunning = async (pid: number): Promise<boolean> =>
  (await startTime(String(pid)).catch(() => undefined)) !== undefined;

const takeFolder = async (draft: string, { path }: StateFolder): Promise<boolean> => {
  try {
    await rename(draft, path);
    return true;
  } catch (error) {
    if (hasSystemCode(error, 'ENOTEMPTY', 'EEXIST')) return false;
    throw error;
  }
};

const refuseLiving = async (name: string, folder: StateFolder): Promise<void> => {
  const pid = await livingOwner(folder);
  if (pid === undefined) return;
  throw new SandboxError(
    'ERR_SANDBOX_EXISTS',
    `the sandbox "${name}" is already up (process ${pid}): take it down first, or use another --name`,
  );
};

/**
 * A pid may be used again; together with its start time, proc_pid_stat(5) field 22, it names one process. One that has
 * ended and was not waited for yet (state Z) has none.
 */
const startTime = async (pid: string): Promise<string | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : fields[19];
};
