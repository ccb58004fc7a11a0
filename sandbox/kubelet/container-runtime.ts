/** Starts and ends containers. Each has a process beside it that outlives the kubelet and leaves its end in a file. */
import { spawn } from 'node:child_process';
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { hasSystemCode } from '../errors.ts';
import { NODE_TOOLBOX } from '../machine/node-root.ts';
import { CGROUP_ROOT, type ContainerStart, containerArguments } from './container-command.ts';
import type { ContainerState } from './lifecycle.ts';

export interface RuntimeFolders {
  /** Of pid and exit files. */
  readonly state: string;
  readonly mounts: string;
}

/** Of the node. */
type StartFiles = Pick<ContainerStart['files'], 'log' | 'hosts' | 'resolvConf'>;

export interface ContainerRuntime {
  /** Reads what an earlier kubelet's containers left, and watches from now on. */
  open(): Promise<void>;
  /** Resolves when the start is under way; the container's state reports how it goes. */
  start(start: Omit<ContainerStart, 'files'> & StartFiles): Promise<void>;
  state(id: string): ContainerState;
  /** Called when the state of any container changes. */
  onChange(handler: (id: string) => void): void;
  /** SIGTERM, after `graceMs` SIGKILL. Resolves when it has ended. */
  stop(id: string, graceMs: number): Promise<void>;
  /** Forgets an ended container. @param cgroup as at its start */
  remove(id: string, cgroup: string): Promise<void>;
  close(): void;
}

const exitFile = z.object({ started: z.boolean(), code: z.number(), signal: z.number() });
const SIGKILL_CODE = 137;

export const createContainerRuntime = (folders: RuntimeFolders): ContainerRuntime => new ToolboxRuntime(folders);

class ToolboxRuntime implements ContainerRuntime {
  readonly #folders: RuntimeFolders;
  readonly #states = new Map<string, ContainerState>();
  readonly #handlers = new Set<(id: string) => void>();
  #watcher: FSWatcher | undefined;

  constructor(folders: RuntimeFolders) {
    this.#folders = folders;
  }

  async open(): Promise<void> {
    const { state, mounts } = this.#folders;
    await Promise.all([state, mounts].map((folder) => mkdir(folder, { recursive: true })));
    this.#watcher = watch(state, (_, file) => {
      const id = file?.match(/^([0-9a-f]+)\.(pid|exit)$/)?.[1];
      if (id !== undefined) void this.#read(id);
    });
    const ids = new Set((await readdir(state)).flatMap((name) => name.match(/^([0-9a-f]+)\./)?.[1] ?? []));
    for (const id of ids) this.#states.set(id, {});
    await Promise.all([...ids].map((id) => this.#read(id)));
    await Promise.all([...ids].map((id) => this.#checkAlive(id)));
  }

  async start(start: Parameters<ContainerRuntime['start']>[0]): Promise<void> {
    const { id } = start;
    const mount = join(this.#folders.mounts, id);
    await mkdir(mount, { recursive: true });
    const files = {
      pid: this.#file(id, 'pid'),
      exit: this.#file(id, 'exit'),
      log: start.log,
      hosts: start.hosts,
      resolvConf: start.resolvConf,
      mount,
    };
    this.#states.set(id, {});
    const shim = spawn(NODE_TOOLBOX, containerArguments({ ...start, files }), { stdio: 'ignore', detached: true });
    // It writes the exit file before it ends; one that was killed could not.
    shim.once('exit', () => void this.#read(id).then(() => this.#shimEnded(id)));
    shim.once('error', () => this.#shimEnded(id));
    shim.unref();
  }

  state(id: string): ContainerState {
    return this.#states.get(id) ?? {};
  }

  onChange(handler: (id: string) => void): void {
    this.#handlers.add(handler);
  }

  async stop(id: string, graceMs: number): Promise<void> {
    if (!this.#states.has(id) || this.state(id).exit !== undefined) return;
    const ended = this.#nextEnd(id);
    await this.#started(id);
    this.#signal(id, 'SIGTERM');
    const timer = setTimeout(() => this.#signal(id, 'SIGKILL'), graceMs);
    await ended;
    clearTimeout(timer);
  }

  async remove(id: string, cgroup: string): Promise<void> {
    this.#states.delete(id);
    await Promise.all([
      rm(this.#file(id, 'pid'), { force: true }),
      rm(this.#file(id, 'exit'), { force: true }),
      rmdir(join(this.#folders.mounts, id)).catch(ignoreAbsent),
      rmdir(join(CGROUP_ROOT, cgroup)).catch(ignoreAbsent),
    ]);
  }

  close(): void {
    this.#watcher?.close();
  }

  #file(id: string, kind: 'pid' | 'exit'): string {
    return join(this.#folders.state, `${id}.${kind}`);
  }

  async #read(id: string): Promise<void> {
    const [pid, exit] = await Promise.all([readOptional(this.#file(id, 'pid')), this.#readExit(id)]);
    const before = this.#states.get(id);
    // One that was removed while its files were read must not come back: nobody would ever see its end.
    if (before === undefined || before.exit !== undefined || (pid === undefined && exit === undefined)) return;
    this.#set(id, { pid: pid === undefined ? undefined : Number(pid), exit });
  }

  async #readExit(id: string): Promise<ContainerState['exit']> {
    const path = this.#file(id, 'exit');
    const content = await readOptional(path);
    if (content === undefined) return undefined;
    const times = await ifThere(stat(path));
    return times && { ...exitFile.parse(JSON.parse(content)), finishedAt: times.mtimeMs };
  }

  #set(id: string, state: ContainerState): void {
    this.#states.set(id, state);
    for (const handler of this.#handlers) handler(id);
  }

  #shimEnded(id: string): void {
    const state = this.#states.get(id);
    if (state === undefined || state.exit !== undefined) return;
    const started = state.pid !== undefined;
    this.#set(id, { ...state, exit: { started, code: SIGKILL_CODE, signal: 9, finishedAt: Date.now() } });
  }

  /** A container of an earlier kubelet whose companion was killed has neither an exit file nor a process. */
  async #checkAlive(id: string): Promise<void> {
    const { pid, exit } = this.state(id);
    if (exit !== undefined || pid === undefined) return;
    const cgroup = await readOptional(`/proc/${pid}/cgroup`);
    if (cgroup?.includes(`/${id}`) !== true) this.#shimEnded(id);
  }

  #signal(id: string, signal: NodeJS.Signals): void {
    const { pid, exit } = this.state(id);
    if (pid === undefined || exit !== undefined) return;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!hasSystemCode(error, 'ESRCH')) throw error;
    }
  }

  #nextEnd(id: string): Promise<void> {
    return this.#when(id, ({ exit }) => exit !== undefined);
  }

  /** Before that there is no process to signal. */
  #started(id: string): Promise<void> {
    return this.#when(id, ({ pid, exit }) => pid !== undefined || exit !== undefined);
  }

  #when(id: string, isTrue: (state: ContainerState) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (changed: string): void => {
        if (changed !== id || !isTrue(this.state(id))) return;
        this.#handlers.delete(check);
        resolve();
      };
      this.#handlers.add(check);
      check(id);
    });
  }
}

const readOptional = (path: string): Promise<string | undefined> => ifThere(readFile(path, 'utf8'));

const ifThere = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    // A process that ends while its files are read: ESRCH.
    if (hasSystemCode(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
};

const ignoreAbsent = (error: unknown): void => {
  if (!hasSystemCode(error, 'ENOENT', 'EBUSY', 'ENOTEMPTY')) throw error;
};
