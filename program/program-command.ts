import { Command, type Option } from 'commander';

/**
 * A command of which every option has an environment variable: where an option names none, the one of its own name, so
 * that `--agent-socket` is UDN_AGENT_SOCKET. Its subcommands are like that, too.
 */
export class ProgramCommand extends Command {
  override addOption(option: Option): this {
    if (option.envVar === undefined) option.env(`UDN_${option.name().replaceAll('-', '_').toUpperCase()}`);
    return super.addOption(option);
  }

  override createCommand(name?: string): Command {
    return new ProgramCommand(name);
  }
}
