/** `udnctl completion SHELL`, and what the scripts of it ask. */
import { Argument, type Command } from 'commander';
import { ProgramCommand } from '../../program/program-command.ts';
import { planCompletion } from './plan.ts';
import { completionScript, formatSuggestions, SHELLS, type Shell } from './scripts.ts';

export const completionCommand = (): Command =>
  new ProgramCommand('completion')
    .description('print the completion script of a shell: source <(udnctl completion bash)')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(SHELLS))
    .action((shell: Shell) => {
      process.stdout.write(completionScript(shell, 'udnctl'));
    });

/** The first word of a command line that a shell asks about; commander never sees it. */
export const COMPLETE = '__complete';

/** @param words behind the name of the program; the last one is being typed @returns for the shell */
export const complete = async (program: Command, words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> => {
  const plan = planCompletion(program, words);
  if (plan.kind === 'files') return formatSuggestions('files', []);
  if (plan.kind === 'words') return formatSuggestions('words', plan.suggestions);
  const { completeNames } = await import('./names.ts');
  return formatSuggestions('words', await completeNames(plan, env));
};
