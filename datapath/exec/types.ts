/** A program to run, always as an argument vector: no shell ever sees the arguments. */
export interface Command {
  /** A program's name, looked up on the runner's PATH, or an absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  /** Written to the program's stdin, which is a pipe and then closed. Without it stdin is empty. */
  readonly input?: string | Uint8Array;
  /** Added to the runner's own environment, which is only `LC_ALL=C` and `PATH`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory; the process' own when absent. */
  readonly cwd?: string;
  /** After this many milliseconds the program is ended and the call fails with ERR_EXEC_TIMEOUT. Default 30,000. */
  readonly timeoutMs?: number;
  /** More output than this on stdout or stderr, in characters, fails with ERR_EXEC_OUTPUT_LIMIT. Default 64 Mi. */
  readonly maxOutput?: number;
  /** Which output `lines` gives. Default `stdout`; some programs report events on stderr. */
  readonly linesFrom?: 'stdout' | 'stderr';
}

export interface CommandOutput {
  /** As the program wrote it (UTF-8), the final newline included. */
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs programs. Implementations keep no state between calls, so calls may overlap. An aborted or timed-out program gets
 * SIGTERM and some seconds later SIGKILL; the promise settles when it is gone.
 */
export interface CommandRunner {
  /**
   * Runs a program to its end.
   * @throws CommandError unless it exits with status 0
   */
  run(command: Command, signal?: AbortSignal): Promise<CommandOutput>;

  /**
   * Runs a program that reports events, one per line of stdout or stderr, as long as the caller iterates; leaving the loop ends
   * the program. `timeoutMs` and `maxOutput` have no default here: such programs run for days.
   * @throws CommandError when it exits with a status other than 0
   */
  lines(command: Command, signal?: AbortSignal): AsyncIterable<string>;
}

export interface BatchRunner extends CommandRunner {
  /** As `lines`, with all that came at once: for programs that print a hundred thousand of them. No batch is empty. */
  batches(command: Command, signal?: AbortSignal): AsyncIterable<readonly string[]>;
}

export const DEFAULT_TIMEOUT_MS = 30_000;
/** Between SIGTERM and SIGKILL. */
export const KILL_AFTER_MS = 5_000;
export const DEFAULT_MAX_OUTPUT = 64 * 1024 * 1024;
