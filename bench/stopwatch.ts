/** Times programs from before their start until they have ended, through `native/stopwatch.c`. */
import { LineProcess } from './line-process.ts';
import { nativeProgram } from './native.ts';

export interface Run {
  readonly file: string;
  /** A file. */
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface TimedRun {
  readonly milliseconds: number;
  readonly stdout: string;
}

export interface TimedRuns {
  readonly runs: readonly TimedRun[];
  /** From the first start to the last end. */
  readonly milliseconds: number;
}

export class Stopwatch implements AsyncDisposable {
  readonly #process: LineProcess;

  /** @param enter runs it elsewhere; then files are those of that place */
  constructor(enter: (argv: readonly string[]) => [file: string, args: string[]] = ([file = '']) => [file, []]) {
    const [file, args] = enter([nativeProgram('stopwatch')]);
    this.#process = new LineProcess('stopwatch', file, args);
  }

  async time(run: Run): Promise<TimedRun> {
    const [timed] = (await this.timeAll([run])).runs;
    if (timed === undefined) throw new Error('nothing was run');
    return timed;
  }

  /** Starts all at once. @throws when one fails */
  async timeAll(runs: readonly Run[]): Promise<TimedRuns> {
    const lines = runs.map(({ file, stdin, env }) => [
      file,
      stdin,
      ...Object.entries(env).map((entry) => entry.join('=')),
    ]);
    this.#process.write(`${lines.map((words) => words.join('\t')).join('\n')}\n\n`);
    const timed: TimedRun[] = [];
    const failures: string[] = [];
    for (const { file } of runs) {
      const [nanoseconds, status, length] = (await this.#process.line()).split(' ').map(Number);
      const stdout = (await this.#process.bytes(length ?? 0)).toString();
      if (status !== 0) failures.push(`${file} ended with ${status}: ${stdout}`);
      timed.push({ milliseconds: (nanoseconds ?? 0) / 1e6, stdout });
    }
    const milliseconds = Number(await this.#process.line()) / 1e6;
    if (failures.length > 0) throw new Error(failures.join('\n'));
    return { runs: timed, milliseconds };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#process[Symbol.asyncDispose]();
  }
}
