/**
 * The program `nft` over a ruleset in memory: what the backend and tests use of it. It refuses what the kernel refuses
 * (things that are not there, that are used, a kind that does not fit) and prints some rules in other words, as nft does.
 */
import { onAbort } from '../../base/abort.ts';
import { CommandError } from '../exec/errors.ts';
import type { Command, CommandOutput, CommandRunner } from '../exec/types.ts';
import { runFakeCommand } from './fake-commands.ts';
import { listingOf } from './fake-listing.ts';
import type { TableState } from './table-state.ts';

/** After so many errors nft gives up. */
const MAX_ERRORS = 10;

export type FakeTables = Map<string, TableState>;

export class FakeNft implements CommandRunner {
  #tables: FakeTables = new Map();
  #generation = 1;
  readonly #monitors = new Set<(lines: readonly string[]) => void>();
  readonly #scripts: string[] = [];
  /** Every command fails with this on stderr. */
  broken: string | undefined;
  /** Lines of scripts that are refused, as a cgroup is that is not there. */
  refused: RegExp | undefined;

  /** What was given to `nft -f -`, and done. */
  get scripts(): readonly string[] {
    return this.#scripts;
  }

  /** How many `nft monitor` run. */
  get monitors(): number {
    return this.#monitors.size;
  }

  run(command: Command, signal?: AbortSignal): Promise<CommandOutput> {
    if (signal?.aborted) return Promise.reject(new CommandError({ code: 'ERR_EXEC_ABORTED', command }));
    const fail = (stderr: string) =>
      Promise.reject(new CommandError({ code: 'ERR_EXEC_EXIT', command, exitCode: 1, stderr }));
    if (this.broken !== undefined) return fail(this.broken);
    const args = command.args.filter((word) => !word.startsWith('--'));
    if (args[0] === 'list') {
      const table = this.#tables.get(args[3] ?? '');
      if (table === undefined) return fail('Error: No such file or directory\nlist table inet ovn-udn\n');
      return Promise.resolve({ stdout: listingOf(args[3] ?? '', table), stderr: '' });
    }
    const script = args[0] === '-' ? String(command.input) : args.join(' ');
    return this.#transaction(script, fail);
  }

  async *lines(command: Command, signal?: AbortSignal): AsyncGenerator<string> {
    if (this.broken !== undefined)
      throw new CommandError({ code: 'ERR_EXEC_EXIT', command, exitCode: 1, stderr: this.broken });
    const queue: string[] = [];
    let wake = Promise.withResolvers<void>();
    const push = (lines: readonly string[]): void => {
      queue.push(...lines);
      wake.resolve();
    };
    const stopListening = onAbort(signal, () => wake.resolve());
    this.#monitors.add(push);
    try {
      while (signal?.aborted !== true && this.#monitors.has(push)) {
        yield* queue.splice(0);
        await wake.promise;
        wake = Promise.withResolvers();
      }
    } finally {
      this.#monitors.delete(push);
      stopListening();
    }
  }

  /** Ends all monitors, as a kernel does that has too much to report. */
  endMonitors(): void {
    const monitors = [...this.#monitors];
    this.#monitors.clear();
    for (const push of monitors) push([]);
  }

  #transaction(script: string, fail: (stderr: string) => Promise<never>): Promise<CommandOutput> {
    const tables = structuredClone(this.#tables);
    const echo: string[] = [];
    const events: string[] = [];
    const errors = script.split('\n').flatMap((line, index) => {
      const isRefused = this.refused?.test(line) === true;
      const error = isRefused ? 'No such file or directory' : runFakeCommand(tables, line, { echo, events });
      return error === undefined ? [] : [`/dev/stdin:${index + 1}:1-9: Error: ${error}\n${line}\n^^^\n`];
    });
    if (errors.length > 0) return fail(errors.slice(0, MAX_ERRORS).join(''));
    this.#tables = tables;
    this.#scripts.push(script);
    const generation = `# new generation ${++this.#generation} by process 1 (nft)`;
    for (const push of this.#monitors) push([...events, generation]);
    // Also nft does not say it otherwise.
    const announced = script.startsWith('add ') ? [generation] : [];
    return Promise.resolve({ stdout: [...echo, ...announced, ''].join('\n'), stderr: '' });
  }
}
