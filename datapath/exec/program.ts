/** A program from its start to its end, whatever has started it: its time, its output, and who ends it. */
import type { Readable, Writable } from 'node:stream';
import { onAbort } from '../../base/abort.ts';
import { codeOf } from '../../base/error-code.ts';
import { CommandError, type CommandErrorCode, type CommandErrorFields, tail } from './errors.ts';
import { type Command, type CommandOutput, DEFAULT_MAX_OUTPUT, DEFAULT_TIMEOUT_MS, KILL_AFTER_MS } from './types.ts';

export type Environment = Readonly<Record<string, string>>;

export interface Started {
  /** Absent without `input`. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The process whose end `waitpid(2)` reports. Rejects with the system's error when it was not started after all. */
  readonly ended: Promise<{ readonly exitCode: number } | { readonly signal: string }>;
  /** Does nothing once it has ended. */
  kill(signal: NodeJS.Signals): void;
}

/** @throws the system's error, unless `ended` rejects with it */
export type Start = (command: Command, environment: Environment) => Started;

/** `run` of a `CommandRunner`. @throws CommandError */
export const runProgram = async (
  start: Start,
  command: Command,
  environment: Environment,
  signal: AbortSignal | undefined,
): Promise<CommandOutput> => {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxOutput = DEFAULT_MAX_OUTPUT } = command;
  using program = new Program(start, { ...command, timeoutMs }, environment, signal);
  const read = (stream: Readable): Promise<string> =>
    textOf(stream, maxOutput, () => program.end('ERR_EXEC_OUTPUT_LIMIT'));
  const texts = Promise.all([read(program.stdout), read(program.stderr)]);
  await program.whenEnded();
  const [stdout, stderr] = await texts;
  program.check({ stdout, stderr: tail(stderr) });
  return { stdout, stderr };
};

/** `batches` of a `BatchRunner`. @throws CommandError */
export async function* programBatches(
  start: Start,
  command: Command,
  environment: Environment,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly string[]> {
  using program = new Program(start, command, environment, signal);
  const { stdout, stderr } = program;
  const errorTail = new Tail(KEPT_STDERR);
  const keep = (chunk: Buffer | string): void => errorTail.push(String(chunk));
  const [output, onChunk] = command.linesFrom === 'stderr' ? [stderr, keep] : [stdout, undefined];
  // What nobody reads must not make the program wait.
  if (output === stdout) stderr.on('data', keep);
  else stdout.resume();
  try {
    yield* batchesOf(output, onChunk);
    await program.whenEnded();
    program.check({ stderr: errorTail.text });
  } finally {
    program.end('ERR_EXEC_ABORTED');
    await program.whenEnded().catch(() => {});
  }
}

type Termination = 'ERR_EXEC_TIMEOUT' | 'ERR_EXEC_ABORTED' | 'ERR_EXEC_OUTPUT_LIMIT';

class Program implements Disposable {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly #command: Command;
  readonly #started: Started;
  readonly #stopListening: () => void;
  readonly #timeout: NodeJS.Timeout | undefined;
  #killer: NodeJS.Timeout | undefined;
  #ending: Awaited<Started['ended']> | undefined;
  /** Why we ended it. */
  #termination: Termination | undefined;

  /** @throws CommandError */
  constructor(start: Start, command: Command, environment: Environment, signal: AbortSignal | undefined) {
    this.#command = command;
    if (signal?.aborted === true) throw this.#error('ERR_EXEC_ABORTED', { cause: signal.reason });
    try {
      this.#started = start(command, { ...environment, ...command.env });
    } catch (cause) {
      throw this.#startError(cause);
    }
    const { stdin, stdout, stderr, ended } = this.#started;
    this.stdout = stdout;
    this.stderr = stderr;
    // A stream that breaks off ends; what is wrong with the program says its ending. It may end before it has read everything.
    for (const stream of [stdin, stdout, stderr]) stream?.on('error', () => {});
    stdin?.end(command.input);
    ended.catch(() => {});
    this.#stopListening = onAbort(signal, () => this.end('ERR_EXEC_ABORTED'));
    const { timeoutMs } = command;
    if (timeoutMs !== undefined) this.#timeout = setTimeout(() => this.end('ERR_EXEC_TIMEOUT'), timeoutMs);
  }

  /** @throws CommandError when it never started */
  async whenEnded(): Promise<void> {
    try {
      this.#ending ??= await this.#started.ended;
    } catch (cause) {
      throw this.#startError(cause);
    } finally {
      clearTimeout(this.#killer);
    }
    if (this.#termination !== undefined) this.#giveUpStreams();
  }

  end(termination: Termination): void {
    if (this.#termination !== undefined) return;
    this.#termination = termination;
    if (this.#ending !== undefined) {
      this.#giveUpStreams();
      return;
    }
    this.#started.kill('SIGTERM');
    this.#killer = setTimeout(() => this.#started.kill('SIGKILL'), KILL_AFTER_MS);
  }

  /** What it has started may live on and have them open. */
  #giveUpStreams(): void {
    for (const stream of [this.stdout, this.stderr]) stream.destroy();
  }

  /** @throws CommandError unless it has ended well */
  check(errorTail: Pick<CommandErrorFields, 'stdout' | 'stderr'>): void {
    if (this.#termination !== undefined) throw this.#error(this.#termination, errorTail);
    if (this.#ending === undefined) return;
    if ('signal' in this.#ending) throw this.#error('ERR_EXEC_SIGNAL', { ...errorTail, ...this.#ending });
    if (this.#ending.exitCode !== 0) throw this.#error('ERR_EXEC_EXIT', { ...errorTail, ...this.#ending });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timeout);
    this.#stopListening();
  }

  #startError(cause: unknown): CommandError {
    // A missing working directory is ENOENT too.
    return this.#error(
      codeOf(cause) === 'ENOENT' && this.#command.cwd === undefined ? 'ERR_EXEC_NOT_FOUND' : 'ERR_EXEC_SPAWN',
      {
        cause,
      },
    );
  }

  #error(code: CommandErrorCode, fields: Omit<CommandErrorFields, 'code' | 'command'>): CommandError {
    return new CommandError({ code, command: this.#command, ...fields });
  }
}

const textOf = async (stream: Readable, maxLength: number, onTooLong: () => void): Promise<string> => {
  const pieces: string[] = [];
  let length = 0;
  stream.setEncoding('utf8').on('data', (piece: string) => {
    length += piece.length;
    if (length <= maxLength) pieces.push(piece);
    else onTooLong();
  });
  if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve));
  return pieces.join('');
};

/** As many lines at once as have come: a program may print a hundred thousand. */
async function* batchesOf(stream: Readable, onChunk?: (chunk: string) => void): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const chunk of chunksOf(stream)) {
    onChunk?.(chunk);
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (lines.length > 0) yield lines;
  }
  if (rest !== '') yield [rest];
}

/** Until it ends, in order or not. */
async function* chunksOf(stream: Readable): AsyncGenerator<string> {
  try {
    yield* stream.setEncoding('utf8') as AsyncIterable<string>;
  } catch (error) {
    if (!stream.destroyed) throw error;
  }
}

const KEPT_STDERR = 4_000;

/** The end of a text that comes in pieces; a program that prints a lot must not cost a copy of it for every line. */
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
