/** What may stand at the end of a command line: read off the definitions of the commands. Pure. */
import type { Argument, Command, Option } from 'commander';

export interface Suggestion {
  readonly value: string;
  readonly description?: string;
}

/** What only somebody else can name. A placeholder of that name in the definition of an option or argument asks for it. */
export const NAME_KINDS = [
  'namespace',
  'network',
  'node',
  'pod',
  'policy',
  'context',
  'cluster',
  'user',
  'subject',
  'name',
  'destination',
] as const;
export type NameKind = (typeof NAME_KINDS)[number];

export type Plan =
  | { readonly kind: 'words'; readonly suggestions: readonly Suggestion[] }
  /** The shell's own business. */
  | { readonly kind: 'files' }
  | { readonly kind: 'names'; readonly of: NameKind; readonly typed: string; readonly line: Line };

/** What has been typed before. */
export interface Line {
  readonly command: Command;
  /** By the long name of the option. */
  readonly values: ReadonlyMap<string, string>;
  readonly positional: readonly string[];
  /** To be put before what is suggested: `--network=`. */
  readonly prefix: string;
}

const NOTHING: Plan = { kind: 'words', suggestions: [] };

/** @param words behind the name of the program; the last one is being typed and may be empty */
export const planCompletion = (program: Command, words: readonly string[]): Plan => {
  const typed = words.at(-1) ?? '';
  const { line, waiting, isOnlyWords } = readLine(program, joined(words.slice(0, -1)));
  const { command, positional } = line;
  if (waiting !== undefined) return valuesOf(waiting, typed === '=' ? '' : typed, line);
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
  if (name !== undefined && value !== undefined && !isOnlyWords) {
    const option = optionOf(command, name);
    return option === undefined ? NOTHING : valuesOf(option, value, { ...line, prefix: `${name}=` });
  }
  if (typed.startsWith('-') && !isOnlyWords) return { kind: 'words', suggestions: unusedOptions(line, typed) };
  if (command.commands.length > 0) return { kind: 'words', suggestions: subcommands(command, typed) };
  const argument = command.registeredArguments[positional.length] ?? variadicLast(command);
  return argument === undefined ? NOTHING : valuesOf(argument, typed, line);
};

/** bash breaks words at `=`: `--network`, `=`, `red`. */
const joined = (words: readonly string[]): readonly string[] => words.filter((word) => word !== '=');

interface Read {
  readonly line: Line;
  /** An option whose value comes next. */
  readonly waiting: Option | undefined;
  /** Behind `--` there are no options. */
  readonly isOnlyWords: boolean;
}

const readLine = (program: Command, words: readonly string[]): Read => {
  let command = program;
  let waiting: Option | undefined;
  let isOnlyWords = false;
  const values = new Map<string, string>();
  const positional: string[] = [];
  const take = (word: string): void => {
    const [name = '', value] = word.split(/=(.*)/s);
    const option = optionOf(command, name);
    if (option === undefined) return;
    if (value === undefined && option.required) waiting = option;
    else values.set(option.name(), value ?? '');
  };
  for (const word of words) {
    const subcommand = command.commands.find((one) => one.name() === word);
    if (waiting !== undefined) {
      values.set(waiting.name(), word);
      waiting = undefined;
    } else if (word === '--') isOnlyWords = true;
    else if (word.startsWith('-') && !isOnlyWords) take(word);
    else if (subcommand !== undefined) command = subcommand;
    else positional.push(word);
  }
  return { line: { command, values, positional, prefix: '' }, waiting, isOnlyWords };
};

const optionOf = (command: Command, name: string): Option | undefined =>
  command.options.find(({ long, short }) => long === name || short === name);

const variadicLast = (command: Command): Argument | undefined => {
  const last = command.registeredArguments.at(-1);
  return last?.variadic === true ? last : undefined;
};

const unusedOptions = ({ command, values }: Line, typed: string): Suggestion[] =>
  [...command.options, ...helpOf(command)]
    .filter((option) => !option.hidden && (option.variadic || !values.has(option.name())))
    .map(({ long, short, description }) => ({ value: long ?? short ?? '', description }))
    .filter(({ value }) => value.startsWith(typed));

const helpOf = (command: Command): readonly Option[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long === '--help');

const subcommands = (command: Command, typed: string): Suggestion[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ value: one.name(), description: one.description() }))
    .filter(({ value }) => value.startsWith(typed));

const valuesOf = (definition: Option | Argument, typed: string, line: Line): Plan => {
  const { argChoices } = definition;
  if (argChoices !== undefined) {
    const fitting = argChoices.filter((choice) => choice.startsWith(typed));
    return { kind: 'words', suggestions: fitting.map((choice) => ({ value: line.prefix + choice })) };
  }
  const placeholder = placeholderOf(definition);
  if (placeholder === 'file' || placeholder === 'path') return { kind: 'files' };
  const of = NAME_KINDS.find((kind) => kind === placeholder);
  return of === undefined ? NOTHING : { kind: 'names', of, typed, line };
};

const placeholderOf = (definition: Option | Argument): string =>
  'flags' in definition ? (/[<[]([a-z-]+)(?:\.\.\.)?[>\]]/.exec(definition.flags)?.[1] ?? '') : definition.name();
