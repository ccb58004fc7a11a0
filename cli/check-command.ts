/** `udnctl check`: its options. */
import { type Command, Option } from 'commander';
import { ProgramCommand } from '../program/program-command.ts';
import { PROGRAMS_NAMESPACE, withClient } from './cluster/cluster-command.ts';
import { type ServerOptions, withServer } from './cluster/server-options.ts';
import { formatTextOutput, TEXT_FORMATS, type TextFormat } from './output/format.ts';

interface CommandOptions extends ServerOptions {
  readonly namespace: string;
  readonly before?: boolean;
  readonly ovnInCluster?: boolean;
  readonly output: TextFormat;
}

/** @param withNode where an agent is, the node is looked at, too */
export const checkCommand = ({ withNode }: { readonly withNode: boolean }): Command =>
  withServer(new ProgramCommand('check').description('check the installation through the API server; changes nothing'))
    .addOption(new Option('-n, --namespace <name>', 'of the programs').default(PROGRAMS_NAMESPACE))
    .option('--before', 'check before an installation whether this cluster and this user meet the requirements')
    .addOption(
      new Option(
        '--ovn-in-cluster',
        'with --before: the installation brings Open vSwitch and OVN, so that nodes must not run their own',
      ).implies({ before: true }),
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(TEXT_FORMATS).default('text'))
    .action(async (options: CommandOptions) => {
      const { namespace, before = false, ovnInCluster = false, output } = options;
      const { checkFromHere } = await import('./commands/check.ts');
      const { exitStatus, ...found } = await withClient(options, ({ client }) =>
        checkFromHere(client, { namespace, before, ovnInCluster, withNode }),
      );
      process.stdout.write(formatTextOutput(found, output));
      process.exitCode = exitStatus;
    });
