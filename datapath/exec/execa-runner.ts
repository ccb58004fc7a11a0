/** The real `CommandRunner`. The only file that knows execa. */
import type { Readable } from 'node:stream';
import { ExecaError, execa, type Options } from 'execa';
import { CommandError, type CommandErrorCode, tail } from './errors.ts';
import {
  type BatchRunner,
  type Command,
  type CommandOutput,
  DEFAULT_MAX_OUTPUT,
  DEFAULT_TIMEOUT_MS,
  KILL_AFTER_MS,
} from './types.ts';

export interface CommandRunnerOptions {
  /** Where programs are looked up. Default: the PATH of this process. */
  readonly path?: string;
  /** For every command; a command's own `env` wins. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What sh(1) would search where a container sets no PATH. */
const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const KEPT_STDERR = 4_000;

export const createCommandRunner = (options: CommandRunnerOptions = {}): BatchRunner => {
  const environment = environmentOf(options);
  return {
    run: (command, signal) => run(command, environment, signal),
    lines: (command, signal) => lines(command, environment, signal),
    batches: (command, signal) => batches(command, environment, signal),
  };
};

export const environmentOf = ({ path, env }: CommandRunnerOptions): Environment => ({
  LC_ALL: 'C',
  PATH: path ?? process.env['PATH'] ?? USUAL_PATH,
  ...env,
});

type Environment = Readonly<Record<string, string>>;

const run = async (command: Command, environment: Environment, signal?: AbortSignal): Promise<CommandOutput> => {
  try {
    const { stdout, stderr } = await execa(command.file, command.args, {
      ...common(command, environment, signal),
      timeout: command.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      maxBuffer: command.maxOutput ?? DEFAULT_MAX_OUTPUT,
      ...inputOf(command),
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
  for await (const batch of batches(command, environment, signal)) yield* batch;
}

async function* batches(
  command: Command,
  environment: Environment,
  signal?: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const stop = new AbortController();
  const child = execa(command.file, command.args, {
    ...common(command, environment, signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])),
    buffer: false,
    ...(command.timeoutMs === undefined ? {} : { timeout: command.timeoutMs }),
    ...inputOf(command),
  });
  const from = command.linesFrom ?? 'stdout';
  const said = new Tail(KEPT_STDERR);
  const keep = (chunk: Buffer | string): void => said.push(String(chunk));
  const [told, onChunk] = from === 'stdout' ? [child.stdout, undefined] : [child.stderr, keep];
  // What nobody reads must not make the program wait.
  if (from === 'stdout') child.stderr.on('data', keep);
  else child.stdout.resume();
  // Its failure is looked at below, after its lines; this only keeps it from being unhandled.
  child.catch(() => {});
  try {
    yield* batchesOf(told, onChunk);
    await child;
  } catch (error) {
    throw toCommandError(error, command, said.text);
  } finally {
    stop.abort();
    await child.catch(() => {});
  }
}

/** Not execa's own, which take many times as long: a program may tell a hundred thousand lines at once. */
async function* batchesOf(stream: Readable, onChunk?: (chunk: string) => void): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) {
    onChunk?.(chunk);
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (lines.length > 0) yield lines;
  }
  if (rest !== '') yield [rest];
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

const inputOf = ({ input }: Command) => (input === undefined ? ({ stdin: 'ignore' } as const) : { input });

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
