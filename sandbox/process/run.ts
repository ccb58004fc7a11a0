/** Programs that run to their end, or report lines. */
import type { CommandLine } from '../machine/types.ts';
import { commandRunner } from './runner.ts';

/**
 * @returns what the program wrote to stdout
 * @throws CommandError unless it exits with status 0
 */
export const run = async (command: CommandLine, input?: string, signal?: AbortSignal): Promise<string> => {
  const { stdout } = await commandRunner().run({ ...command, ...(input === undefined ? {} : { input }) }, signal);
  return stdout;
};

/**
 * The lines that the program writes, until it ends or `signal` aborts.
 * @throws CommandError unless it exits with status 0
 */
export const linesOf = (command: CommandLine, signal: AbortSignal): AsyncIterable<string> =>
  commandRunner().lines(command, signal);
