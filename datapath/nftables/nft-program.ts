/** The program `nft`: reads our table, runs scripts, reports changes. */
import type { CommandRunner } from '../exec/types.ts';
import { isAbsentTable } from './errors.ts';
import { parseListing } from './parse-listing.ts';
import type { TableState } from './table-state.ts';
import { OUR_TABLE } from './types.ts';

export interface NftCommand {
  readonly runner: CommandRunner;
  /** What comes before nft's own arguments. Default `['nft']`. */
  readonly command?: readonly [string, ...string[]];
  /** What `nft monitor` is run by, so that it ends with this process. Default: nothing. */
  readonly guard?: readonly string[];
}

export interface Transaction {
  /** Every rule that was added, as nft prints it; none where nft cannot be asked. */
  readonly rules: readonly string[];
  /** The number of the ruleset that this made. Undefined when nft did not say it. */
  readonly generation: number | undefined;
}

/** Without counts, priorities as numbers: what does not change by itself, and does not depend on names. */
const FORM = ['--stateless', '--numeric-priority'] as const;

export class NftProgram {
  readonly #runner: CommandRunner;
  readonly #command: readonly [string, ...string[]];
  readonly #guard: readonly string[];

  constructor({ runner, command = ['nft'], guard = [] }: NftCommand) {
    this.#runner = runner;
    this.#command = command;
    this.#guard = guard;
  }

  /** Undefined when there is no such table. @throws CommandError, NftError */
  async list(signal?: AbortSignal): Promise<TableState | undefined> {
    try {
      const { stdout } = await this.#runner.run(
        this.#with(...FORM, 'list', 'table', OUR_TABLE.family, OUR_TABLE.name),
        signal,
      );
      return parseListing(stdout);
    } catch (error) {
      if (isAbsentTable(error)) return undefined;
      throw error;
    }
  }

  /** Names of chains by table, of all tables, whoever's they are: `ip kube-proxy` → `services`. @throws CommandError */
  async chains(signal?: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>> {
    const { stdout } = await this.#runner.run(this.#with('list', 'chains'), signal);
    return parseChains(stdout);
  }

  /**
   * All of a script or nothing. As text: with `--json`, nft opens /dev/stdin again, which fails when stdin is the socket
   * pair that Node makes.
   */
  async run(script: string, signal?: AbortSignal): Promise<Transaction> {
    const echo = reusesSetNames(script) ? [] : ['--echo'];
    const command = this.#with(...FORM, ...echo, '--file', '-');
    const { stdout } = await this.#runner.run({ ...command, input: script }, signal);
    return parseEcho(stdout);
  }

  /** Lines of `nft monitor`, which says the generation after each transaction; in JSON it does not. */
  monitor(signal: AbortSignal): AsyncIterable<string> {
    const { file, args } = this.#with('monitor');
    const [first = file, ...words] = [...this.#guard, file];
    return this.#runner.lines({ file: first, args: [...words, ...args] }, signal);
  }

  #with(...args: readonly string[]) {
    const [file, ...before] = this.#command;
    return { file, args: [...before, ...args] };
  }
}

const parseChains = (text: string): ReadonlyMap<string, readonly string[]> => {
  const tables = new Map<string, string[]>();
  let chains: string[] | undefined;
  for (const line of text.split('\n')) {
    const [, table] = /^table (\S+ \S+) \{/.exec(line) ?? [];
    const [, chain] = /^\tchain (\S+) \{/.exec(line) ?? [];
    if (table !== undefined) {
      chains = [];
      tables.set(table, chains);
    } else if (chain !== undefined) chains?.push(chain);
  }
  return tables;
};

/**
 * The kernel names the set of a rule (`tcp dport { 80, 443 }`), and gives a new rule the name of one that the same transaction removes. With
 * `--echo` nft 1.1.3 then takes the new set for the old one, and ends by SIGSEGV after the transaction, which has been made.
 */
const reusesSetNames = (script: string): boolean => /^flush chain /m.test(script) && /^add rule .*\{/m.test(script);

const ADDED_RULE = /^add rule inet \S+ \S+ (?:handle \d+ )?(.*)$/;

const parseEcho = (text: string): Transaction => {
  const rules: string[] = [];
  let generation: number | undefined;
  for (const line of text.split('\n')) {
    const rule = ADDED_RULE.exec(line)?.[1];
    if (rule !== undefined) rules.push(rule);
    generation = generationOf(line)?.number ?? generation;
  }
  return { rules, generation };
};

/** `# new generation 5 by process 470 (nft)` ends what a transaction changed. */
export const generationOf = (line: string): { readonly number: number } | undefined => {
  const [, number] = /^# new generation (\d+)/.exec(line) ?? [];
  return number === undefined ? undefined : { number: Number(number) };
};
