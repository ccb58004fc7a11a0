/** The command line that the agent's pod runs: what was typed, without what says where. Pure. */
import type { Command, Option } from 'commander';
import { SERVER_OPTIONS } from '../cluster/server-options.ts';

/** Options of where, and as whom: they are for this machine. */
const OF_HERE: readonly string[] = [...SERVER_OPTIONS, 'node', 'agentNamespace', 'agent', 'namespace'];

/**
 * Values of the environment stay here, too: it is that of this machine.
 * @returns the name of the command and its words, each option in one word, so that none is taken for another's value
 */
export const remoteWords = (command: Command): readonly string[] => [
  ...remoteOptions(command),
  ...(command.args.length === 0 ? [] : ['--', ...command.args]),
];

/** The same of a command whose arguments say where. */
export const remoteOptions = (command: Command): readonly string[] => {
  const options = command.options
    .filter((option) => !OF_HERE.includes(option.attributeName()))
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .flatMap((option) => optionWords(option, command.getOptionValue(option.attributeName())));
  return [...commandNames(command), ...options];
};

/** Of it and of those that it is part of, without the program. */
const commandNames = (command: Command): readonly string[] => {
  const { parent } = command;
  const isPart = parent !== null && parent.parent !== null;
  return [...(isPart ? commandNames(parent) : []), command.name()];
};

const optionWords = ({ long, short }: Option, value: unknown): readonly string[] => {
  const name = long ?? short ?? '';
  if (value === true) return [name];
  if (value === false || value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).map((one) => `${name}=${one}`);
};
