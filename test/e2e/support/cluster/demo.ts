/** Runs the demo as a user does, and ends it as users and machines do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../../..');
const CACHE = join(ROOT, 'node_modules/.cache/node');

export interface DemoRun {
  readonly name: string;
  /** For results, and for temporary files. */
  readonly folder: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Through make, which is then the leader of the process group. */
  readonly throughMake?: boolean;
  /** More arguments of make. */
  readonly variables?: readonly string[];
}

export interface Demo {
  /** Resolves when the demo has said this. @throws Error with all that it said when it ends before */
  printed(text: string): Promise<void>;
  /** As a terminal's Ctrl-C does: to all of its process group. */
  signalGroup(signal: NodeJS.Signals): void;
  /** To the demo alone. */
  signal(signal: NodeJS.Signals): Promise<void>;
  /** Nobody reads what it says from here on. */
  closeOutput(): void;
  readonly output: () => string;
  /** The exit status, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

export const startDemo = async (run: DemoRun): Promise<Demo> => {
  const temporary = join(run.folder, 'tmp');
  await mkdir(temporary, { recursive: true });
  const [file = '', ...args] = commandOf(run);
  const { NODE_DISABLE_COMPILE_CACHE: _, ...inherited } = process.env;
  // As `make demo` has it: half of what its start costs.
  const env = { ...inherited, NODE_COMPILE_CACHE: CACHE, TMPDIR: temporary, ...run.env };
  const child = spawn(file, args, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  return demoOf(child);
};

/** What it left of temporary files. */
export const temporaryFiles = (folder: string): Promise<string[]> => readdir(join(folder, 'tmp'));

const commandOf = ({ name, folder, args = [], throughMake = false, variables = [] }: DemoRun): readonly string[] => {
  const options = ['--name', name, '--output', join(folder, 'out'), ...args];
  if (throughMake) return ['make', 'demo', `DEMO_ARGS=${options.join(' ')}`, ...variables];
  return [process.execPath, 'demo/main.ts', ...options];
};

const demoOf = (child: ChildProcess): Demo => {
  let text = '';
  const listeners = new Set<() => void>();
  const take = (chunk: Buffer): void => {
    text += chunk.toString();
    for (const listener of listeners) listener();
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 1));
  });
  const printed = (desired: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (text.includes(desired)) resolve();
      };
      listeners.add(check);
      check();
      void ended.then((how) => reject(new Error(`the demo ended (${how}) and did not say "${desired}":\n${text}`)));
    });
  const pid = child.pid ?? 0;
  return {
    printed,
    ended,
    output: () => text,
    signalGroup: (signal) => void process.kill(-pid, signal),
    signal: async (signal) => void process.kill(await demoProcess(pid), signal),
    closeOutput: () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
  };
};

/** It is started by make, or it is the process itself. */
const demoProcess = async (pid: number): Promise<number> => {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
  if (command.includes('demo/main.ts')) return pid;
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
  for (const child of children) if (child > 0) return await demoProcess(child);
  throw new Error(`process ${pid} runs no demo: ${command}`);
};
