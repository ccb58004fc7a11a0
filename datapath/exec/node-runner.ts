/** The real `CommandRunner`: Node starts the programs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { type Environment, programBatches, runProgram, type Start, type Started } from './program.ts';
import type { BatchRunner } from './types.ts';

export interface CommandRunnerOptions {
  /** Where programs are looked up. Default: the PATH of this process. */
  readonly path?: string;
  /** For every command; a command's own `env` wins. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What sh(1) would search where a container sets no PATH. */
const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** @param start what `run` starts programs by */
export const createCommandRunner = (options: CommandRunnerOptions = {}, start: Start = startChild): BatchRunner => {
  const environment: Environment = {
    LC_ALL: 'C',
    PATH: options.path ?? process.env['PATH'] ?? USUAL_PATH,
    ...options.env,
  };
  const batches: BatchRunner['batches'] = (command, signal) => programBatches(startChild, command, environment, signal);
  return {
    run: (command, signal) => runProgram(start, command, environment, signal),
    async *lines(command, signal) {
      for await (const batch of batches(command, signal)) yield* batch;
    },
    batches,
  };
};

const startChild: Start = ({ file, args, cwd, input }, env): Started => {
  const child = spawn(file, args, { cwd, env, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
  const { stdin, stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new TypeError('a program without its streams');
  const ended: Started['ended'] = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code === null ? { signal: String(signal) } : { exitCode: code }));
  });
  endWithUs(child);
  return { stdin: stdin ?? undefined, stdout, stderr, ended, kill: (signal) => void child.kill(signal) };
};

const RUNNING = new Set<ChildProcess>();

/** Nobody reads what a program writes that outlives this process. */
const endWithUs = (child: ChildProcess): void => {
  if (RUNNING.size === 0) process.on('exit', endAll);
  RUNNING.add(child);
  const forget = (): void => {
    RUNNING.delete(child);
    if (RUNNING.size === 0) process.off('exit', endAll);
  };
  child.once('exit', forget).once('error', forget);
};

const endAll = (): void => {
  for (const child of RUNNING) child.kill('SIGTERM');
};
