/**
 * A `CommandRunner` for processes that are large. libuv starts programs with fork(2), which copies the page tables: 2 ms with
 * 50 MiB, 35 ms with 470, in which nothing else is done. posix_spawn(3) takes 0.1 ms however large the process is (ADR 37).
 * Programs that report lines are started once and run for days: they are left to the other runner.
 */
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { constants as system } from 'node:os';
import { delimiter, join } from 'node:path';
import { CommandError, type CommandErrorCode, tail } from './errors.ts';
import { type CommandRunnerOptions, createCommandRunner, environmentOf } from './execa-runner.ts';
import {
  type BatchRunner,
  type Command,
  type CommandOutput,
  DEFAULT_MAX_OUTPUT,
  DEFAULT_TIMEOUT_MS,
  KILL_AFTER_MS,
} from './types.ts';

/** For programs that may be large, which then say where the addon is. */
export const openCommandRunner = (spawnAddon: string | undefined): BatchRunner =>
  spawnAddon === undefined ? createCommandRunner() : loadCommandRunner(spawnAddon);

/** @param addonPath what `make build` makes of `native/spawn.c`. @throws Error when it cannot be loaded */
export const loadCommandRunner = (addonPath: string, options: CommandRunnerOptions = {}): BatchRunner => {
  const addon: unknown = createRequire(import.meta.url)(addonPath);
  if (!isAddon(addon)) throw new TypeError(`${addonPath} is not the addon that starts programs`);
  const environment = environmentOf(options);
  const { lines, batches } = createCommandRunner(options);
  return {
    run: (command, signal) => new Run(addon, command, { ...environment, ...command.env }, signal).whenDone(),
    lines,
    batches,
  };
};

interface Addon {
  start(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string | undefined,
    hasInput: boolean,
  ): readonly number[];
  reap(pid: number): number;
}

const isAddon = (value: unknown): value is Addon =>
  typeof value === 'object' && value !== null && 'start' in value && 'reap' in value;

type Environment = Readonly<Record<string, string>>;
/** Why we ended it. */
type Verdict = 'ERR_EXEC_TIMEOUT' | 'ERR_EXEC_ABORTED' | 'ERR_EXEC_OUTPUT_LIMIT';

/** One program, from its start to its end. */
class Run {
  readonly #addon: Addon;
  readonly #command: Command;
  readonly #environment: Environment;
  readonly #signal: AbortSignal | undefined;
  #verdict: Verdict | undefined;
  #pid: number | undefined;
  #killer: NodeJS.Timeout | undefined;

  constructor(addon: Addon, command: Command, environment: Environment, signal: AbortSignal | undefined) {
    this.#addon = addon;
    this.#command = command;
    this.#environment = environment;
    this.#signal = signal;
  }

  /** @throws CommandError */
  async whenDone(): Promise<CommandOutput> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = this.#command;
    if (this.#signal?.aborted === true) throw this.#error('ERR_EXEC_ABORTED', { cause: this.#signal.reason });
    const [pid = -1, input = -1, stdout = -1, stderr = -1, end = -1] = this.#start();
    this.#pid = pid;
    const abort = (): void => this.#end('ERR_EXEC_ABORTED');
    this.#signal?.addEventListener('abort', abort, { once: true });
    const timeout = setTimeout(() => this.#end('ERR_EXEC_TIMEOUT'), timeoutMs);
    if (input >= 0) this.#feed(input, this.#command.input ?? '');
    const ended = Promise.withResolvers<number>();
    // Until then the number is that of no other process.
    readable(end).once('close', () => {
      this.#pid = undefined;
      ended.resolve(this.#addon.reap(pid));
    });
    const [out, err, status] = await Promise.all([this.#read(stdout), this.#read(stderr), ended.promise]);
    clearTimeout(timeout);
    clearTimeout(this.#killer);
    this.#signal?.removeEventListener('abort', abort);
    return this.#result({ stdout: out, stderr: err }, status);
  }

  #start(): readonly number[] {
    const { file, args, cwd, input } = this.#command;
    try {
      const variables = Object.entries(this.#environment).map((entry) => entry.join('='));
      const path = locate(file, this.#environment['PATH'] ?? '');
      return this.#addon.start(path, [file, ...args], variables, cwd, input !== undefined);
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
      // A missing working directory is ENOENT too.
      if (code === 'ENOENT' && cwd === undefined) throw this.#error('ERR_EXEC_NOT_FOUND', { cause });
      throw this.#error('ERR_EXEC_SPAWN', { cause: new Error(`${code} ${(cause as Error).message}`, { cause }) });
    }
  }

  #feed(fd: number, input: NonNullable<Command['input']>): void {
    const socket = new Socket({ fd, readable: false, writable: true });
    // It may end before it has read everything: what it says then counts.
    socket.on('error', () => {});
    socket.end(input);
  }

  async #read(fd: number): Promise<string> {
    const { maxOutput = DEFAULT_MAX_OUTPUT } = this.#command;
    const pieces: string[] = [];
    let length = 0;
    const socket = readable(fd).setEncoding('utf8');
    socket.on('data', (piece: string) => {
      length += piece.length;
      if (length <= maxOutput) pieces.push(piece);
      else this.#end('ERR_EXEC_OUTPUT_LIMIT');
    });
    await new Promise((resolve) => socket.once('close', resolve));
    return pieces.join('');
  }

  #end(verdict: Verdict): void {
    if (this.#verdict !== undefined) return;
    this.#verdict = verdict;
    this.#kill('SIGTERM');
    this.#killer = setTimeout(() => this.#kill('SIGKILL'), KILL_AFTER_MS);
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#pid !== undefined) process.kill(this.#pid, signal);
  }

  /** @param status as waitpid(2) encodes it: the signal below, the exit status above */
  #result(output: CommandOutput, status: number): CommandOutput {
    const said = { stdout: output.stdout, stderr: tail(output.stderr) };
    if (this.#verdict !== undefined) throw this.#error(this.#verdict, said);
    const signal = status & 0x7f;
    if (signal !== 0) throw this.#error('ERR_EXEC_SIGNAL', { ...said, signal: nameOf(signal) });
    if (status !== 0) throw this.#error('ERR_EXEC_EXIT', { ...said, exitCode: status >> 8 });
    return output;
  }

  #error(
    code: CommandErrorCode,
    fields: Omit<ConstructorParameters<typeof CommandError>[0], 'code' | 'command'>,
  ): CommandError {
    return new CommandError({ code, command: this.#command, ...fields });
  }
}

const readable = (fd: number): Socket => {
  const socket = new Socket({ fd, readable: true, writable: false });
  // It is closed as it is when it has ended.
  socket.on('error', () => {});
  return socket.resume();
};

/** As execvp(3) looks for it. What is nowhere is tried as it is, for the system to say why not. */
const locate = (file: string, path: string): string =>
  file.includes('/')
    ? file
    : (path
        .split(delimiter)
        .map((folder) => join(folder, file))
        .find(isExecutable) ?? file);

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const nameOf = (signal: number): string =>
  Object.entries(system.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
