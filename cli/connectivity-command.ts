/** `udnctl connectivity`: its options. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ProgramCommand } from '../program/program-command.ts';
import { withExec } from './cluster/cluster-command.ts';
import { parseTimeout } from './cluster/request-timeout.ts';
import { withServer } from './cluster/server-options.ts';
import type { ConnectivityOptions } from './commands/connectivity.ts';
import { TESTS } from './connectivity/run.ts';
import { CliError } from './errors.ts';
import { OUTPUT_FORMATS } from './output/format.ts';

/** What the Kubernetes project tests clusters with; its commands are those of v1.36. */
const IMAGE = 'registry.k8s.io/e2e-test-images/agnhost:2.63.0';

const STATUS_CODES = `
Exit status: 0 all is as expected, 1 something differs, 2 something could not be measured.
It creates two namespaces, each with a network and three pods, and deletes them at the end, also on Ctrl-C.`;

export const connectivityCommand = (): Command =>
  withServer(
    new ProgramCommand('connectivity')
      .description('measure reachability between networks, Services, DNS, the API server and the MTU with test pods')
      .option('--default-network', 'test the default network only, without test networks', false)
      .option('--subnet <cidr...>', 'subnets of both networks (default: 10.203.0.0/16, fd00:10:203::/48)')
      .addOption(
        new Option('--node <node...>', 'place pods on these one or two nodes (default: the first two that fit)').env(
          'UDNCTL_NODE',
        ),
      )
      .addOption(new Option('--only <test...>', 'run these tests only').choices(TESTS).default(TESTS))
      .option('--image <image>', 'image of the pods, with the commands netexec and connect of agnhost', IMAGE)
      .option('--program <path>', 'path of that program in the image', '/agnhost')
      .addOption(
        new Option('--timeout <duration>', 'how long to wait for the pods')
          .argParser(durationOf)
          .default(120_000, '2m'),
      )
      .addOption(
        new Option('--probe-timeout <duration>', 'after how long a probe gives up')
          .argParser(durationOf)
          .default(3_000, '3s'),
      )
      .option('--cleanup', 'only delete leftovers of earlier runs', false)
      .option('--force', 'with --cleanup: also namespaces younger than 15 minutes, perhaps of a run in progress', false)
      .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('table'))
      .addHelpText('after', STATUS_CODES),
  ).action(async (options: ConnectivityOptions) => {
    const { cleanup, force } = options;
    if (force && !cleanup) throw new CliError('--force is for --cleanup', 2);
    const { runConnectivity } = await import('./commands/connectivity.ts');
    await withExec(options, (server) => runConnectivity(server, options));
  });

/** In milliseconds. */
const durationOf = (text: string): number => {
  const milliseconds = parseTimeout(text);
  if (milliseconds === undefined) throw new InvalidArgumentError('expected a duration such as 30s or 2m.');
  return milliseconds;
};
