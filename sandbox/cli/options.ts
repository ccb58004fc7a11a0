/** Options that several commands have. */
import { type Command, Option } from 'commander';

/** Which of the sandboxes on this machine. */
export const nameOption = (): Option =>
  new Option('--name <name>', 'which sandbox').env('UDN_SANDBOX').default('default');

export interface NameOption {
  readonly name: string;
}

/** A subcommand with `--name`. */
export const sandboxCommand = (program: Command, signature: string): Command =>
  program.command(signature).addOption(nameOption()).exitOverride();
