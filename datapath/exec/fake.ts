/**
 * A `CommandRunner` without processes. A test gives it programs: functions that simulate what the real one would do with
 * its state. What no program was given for "is not installed".
 */
import { onAbort } from '../../base/abort.ts';
import { CommandError } from './errors.ts';
import type { BatchRunner, Command, CommandOutput } from './types.ts';

export interface FakeResult {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exitCode?: number;
}

/** May wait, for example for `signal`; whatever it gives after an abort is not looked at. */
export type FakeProgram = (command: Command, signal: AbortSignal) => FakeResult | Promise<FakeResult>;

export class FakeCommandRunner implements BatchRunner {
  readonly #programs: ReadonlyMap<string, FakeProgram>;
  readonly #commands: Command[] = [];

  /** @param programs by the name that commands have as `file` */
  constructor(programs: Readonly<Record<string, FakeProgram>>) {
    this.#programs = new Map(Object.entries(programs));
  }

  /** What was run until now, in order. */
  get commands(): readonly Command[] {
    return this.#commands;
  }

  async run(command: Command, signal?: AbortSignal): Promise<CommandOutput> {
    this.#commands.push(command);
    const program = this.#programs.get(command.file);
    if (signal?.aborted) throw new CommandError({ code: 'ERR_EXEC_ABORTED', command, cause: signal.reason });
    if (program === undefined) throw new CommandError({ code: 'ERR_EXEC_NOT_FOUND', command });
    const { stdout = '', stderr = '', exitCode = 0 } = await interruptible(program, command, signal);
    if (exitCode !== 0) throw new CommandError({ code: 'ERR_EXEC_EXIT', command, exitCode, stdout, stderr });
    return { stdout, stderr };
  }

  async *lines(command: Command, signal?: AbortSignal): AsyncGenerator<string> {
    for await (const batch of this.batches(command, signal)) yield* batch;
  }

  async *batches(command: Command, signal?: AbortSignal): AsyncGenerator<readonly string[]> {
    let failure: CommandError | undefined;
    const output = await this.run(command, signal).catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      failure = error;
      return error;
    });
    const lines = output[command.linesFrom ?? 'stdout'].split('\n');
    if (lines.at(-1) === '') lines.pop();
    if (lines.length > 0) yield lines;
    if (failure !== undefined) throw failure;
  }
}

const interruptible = (program: FakeProgram, command: Command, signal?: AbortSignal): Promise<FakeResult> => {
  const stop = new AbortController();
  return new Promise<FakeResult>((resolve, reject) => {
    const end = (code: 'ERR_EXEC_ABORTED' | 'ERR_EXEC_TIMEOUT') => {
      stop.abort();
      reject(new CommandError({ code, command }));
    };
    const timer =
      command.timeoutMs === undefined ? undefined : setTimeout(() => end('ERR_EXEC_TIMEOUT'), command.timeoutMs);
    const settle = () => {
      clearTimeout(timer);
      stopListening();
    };
    const stopListening = onAbort(signal, () => end('ERR_EXEC_ABORTED'));
    Promise.resolve(program(command, stop.signal)).then(resolve, reject).finally(settle);
  });
};
