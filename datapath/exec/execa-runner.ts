/** The real `CommandRunner`. The only file that knows execa. */
import { ExecaError, execa, type Options } from 'execa';
import { CommandError, type CommandErrorCode, tail } from './errors.ts';
import {
  type Command,
  type CommandOutput,
  type CommandRunner,
  DEFAULT_MAX_OUTPUT,
  DEFAULT_TIMEOUT_MS,
} from './types.ts';

export interface CommandRunnerOptions {
  /** Where programs are looked up. Default: the PATH of this process. */
  readonly path?: string;
  /** For every command; a command's own `env` wins. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What sh(1) would search where a container sets no PATH. */
const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const KILL_AFTER_MS = 5_000;
const KEPT_STDERR = 4_000;

export const createCommandRunner = (options: CommandRunnerOptions = {}): CommandRunner => {
  const environment = { LC_ALL: 'C', PATH: options.path ?? process.env['PATH'] ?? USUAL_PATH, ...options.env };
  return {
    run: (command, signal) => run(command, environment, signal),
    lines: (command, signal) => lines(command, environment, signal),
  };
};

type Environment = Readonly<Record<string, string>>;

const run = async (command: Command, environment: Environment, signal?: AbortSignal): Promise<CommandOutput> => {
  try {
    const { stdout, stderr } = await execa(command.file, command.args, {
      ...common(command, environment, signal),
      timeout: command.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      maxBuffer: command.maxOutput ?? DEFAULT_MAX_OUTPUT,
      ...(command.input === undefined ? { stdin: 'ignore' } : { input: command.input }),
    });
    return { stdout: text(stdout), stderr: text(stderr) };
  } catch (error) {
    throw toCommandError(error, command);
  }
};

/** The end of a text that comes in pieces; a program that tells a lot must not cost a copy of it for every line. */
class Tail {
  readonly #length: number;
  #pieces: string[] = [];
  #kept = 0;

  constructor(length: number) {
    this.#length = length;
  }

  get text(): string {
    return this.#pieces.join('').slice(-this.#length);
  }

  push(piece: string): void {
    this.#pieces.push(piece);
    this.#kept += piece.length;
    if (this.#kept < 2 * this.#length) return;
    this.#pieces = [this.text];
    this.#kept = this.#length;
  }
}

async function* lines(command: Command, environment: Environment, signal?: AbortSignal): AsyncGenerator<string> {
  const stop = new AbortController();
  const child = execa(command.file, command.args, {
    ...common(command, environment, signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])),
    buffer: false,
    ...(command.timeoutMs === undefined ? {} : { timeout: command.timeoutMs }),
    ...(command.input === undefined ? { stdin: 'ignore' } : { input: command.input }),
  });
  const said = new Tail(KEPT_STDERR);
  const from = command.linesFrom ?? 'stdout';
  // One reader for each stream: what is iterated is kept below.
  if (from === 'stdout') child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  // The iterator waits for the end of the program, so its failure arrives there; this only keeps it from being unhandled.
  child.catch(() => {});
  // Not `for await`: leaving it waits until the program ends by itself, which one that is silent never does.
  const iterator = child.iterable({ from })[Symbol.asyncIterator]();
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      const line = text(next.value);
      if (from === 'stderr') said.push(`${line}\n`);
      yield line;
    }
  } catch (error) {
    throw toCommandError(error, command, said.text);
  } finally {
    stop.abort();
    await child.catch(() => {});
  }
}

const common = (command: Command, environment: Environment, signal: AbortSignal | undefined) =>
  ({
    extendEnv: false,
    env: { ...environment, ...command.env },
    stripFinalNewline: false,
    forceKillAfterDelay: KILL_AFTER_MS,
    ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
    ...(signal === undefined ? {} : { cancelSignal: signal }),
  }) satisfies Options;

const toCommandError = (error: unknown, command: Command, stderr?: string): unknown => {
  if (!(error instanceof ExecaError)) return error;
  return new CommandError({
    code: codeOf(error, command),
    command,
    exitCode: error.exitCode,
    signal: error.signal,
    stdout: text(error.stdout),
    stderr: stderr ?? tail(text(error.stderr)),
    cause: error.cause ?? error,
  });
};

const codeOf = (error: ExecaError, command: Command): CommandErrorCode => {
  if (error.timedOut) return 'ERR_EXEC_TIMEOUT';
  if (error.isCanceled) return 'ERR_EXEC_ABORTED';
  if (error.isMaxBuffer) return 'ERR_EXEC_OUTPUT_LIMIT';
  if (error.signal !== undefined) return 'ERR_EXEC_SIGNAL';
  if (error.exitCode !== undefined) return 'ERR_EXEC_EXIT';
  // A missing working directory is ENOENT too.
  return error.code === 'ENOENT' && command.cwd === undefined ? 'ERR_EXEC_NOT_FOUND' : 'ERR_EXEC_SPAWN';
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
