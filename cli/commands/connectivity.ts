/** `udnctl connectivity`: measures who reaches whom, with pods of its own, and leaves nothing. */
import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { listAll } from '../../kube/reflector/list-all.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { ProgramCommand } from '../../program/program-command.ts';
import { type ServerWithExec, withExec } from '../cluster/cluster-command.ts';
import { parseTimeout } from '../cluster/request-timeout.ts';
import { type ServerOptions, withServer } from '../cluster/server-options.ts';
import { type ClusterNode, chooseNodes, clusterNode, familiesOf } from '../connectivity/cluster-nodes.ts';
import { execute } from '../connectivity/execute.ts';
import { deleteLeftovers } from '../connectivity/leftovers.ts';
import { demandRights } from '../connectivity/rights.ts';
import { type Run, TESTS, type TestName } from '../connectivity/run.ts';
import { askedSubnets, defaultSubnets } from '../connectivity/subnets.ts';
import { CliError } from '../errors.ts';
import { formatOutput, OUTPUT_FORMATS, type OutputFormat } from '../output/format.ts';

interface ConnectivityOptions extends ServerOptions {
  readonly defaultNetwork: boolean;
  readonly subnet?: readonly string[];
  readonly node?: string | readonly string[];
  readonly only: readonly TestName[];
  readonly image: string;
  readonly program: string;
  readonly timeout: number;
  readonly probeTimeout: number;
  readonly cleanup: boolean;
  readonly output: OutputFormat;
}

/** What the Kubernetes project tests clusters with; its commands are those of v1.36. */
const IMAGE = 'registry.k8s.io/e2e-test-images/agnhost:2.63.0';

const STATUS_CODES = `
Exit status: 0 all is as expected, 1 something differs, 2 something could not be measured.
It creates two namespaces, each with a network and three pods, and deletes them at the end, also on Ctrl-C.`;

export const connectivityCommand = (): Command =>
  withServer(
    new ProgramCommand('connectivity')
      .description('measure with pods of its own who reaches whom, Services, DNS, the API server and the MTU')
      .option('--default-network', 'test the default network, without networks of its own', false)
      .option('--subnet <cidr...>', 'subnets of both networks (default: 10.203.0.0/16, fd00:10:203::/48)')
      .addOption(
        new Option('--node <node...>', 'place pods on these one or two nodes (default: the first two that fit)').env(
          'UDNCTL_NODE',
        ),
      )
      .addOption(new Option('--only <test...>', 'run these tests only').choices(TESTS).default(TESTS))
      .option('--image <image>', 'image of the pods, with the commands netexec and connect of agnhost', IMAGE)
      .option('--program <path>', 'path of that program in the image', '/agnhost')
      .option('--timeout <duration>', 'how long to wait for the pods', durationOf, 120_000)
      .option('--probe-timeout <duration>', 'after how long a probe gives up', durationOf, 3_000)
      .option('--cleanup', 'only delete what earlier runs have left', false)
      .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('table'))
      .addHelpText('after', STATUS_CODES),
  ).action(async (options: ConnectivityOptions) => {
    await withExec(options, (server) => (options.cleanup ? cleanUp(server.client) : testConnectivity(server, options)));
  });

/** In milliseconds. */
const durationOf = (text: string): number => {
  const milliseconds = parseTimeout(text);
  if (milliseconds === undefined) throw new InvalidArgumentError('expected a duration such as 30s or 2m.');
  return milliseconds;
};

const cleanUp = async (client: KubeClient): Promise<void> => {
  const names = await deleteLeftovers(client, undefined);
  process.stdout.write(names.length === 0 ? 'no leftovers\n' : names.map((name) => `${name} deleted\n`).join(''));
};

const testConnectivity = async (server: ServerWithExec, options: ConnectivityOptions): Promise<void> => {
  const run = await prepare(server.client, options);
  const stop = stopOnSignals();
  try {
    const execution = {
      ...{ client: server.client, exec: server.exec, clock: systemClock, run, say },
      ...{ tests: new Set(options.only), patienceMs: options.timeout, timeoutSeconds: options.probeTimeout / 1_000 },
    };
    const report = await execute(execution, stop);
    process.stdout.write(formatOutput(report, options.output));
    process.exitCode = report.exitStatus;
  } catch (error) {
    throw error instanceof CliError ? error : new CliError(messageOf(error), 2);
  } finally {
    say('deleting the namespaces');
    await deleteLeftovers(server.client, run.id);
  }
};

/** Nothing is created before all that can be asked is known. */
const prepare = async (client: KubeClient, options: ConnectivityOptions): Promise<Run> => {
  const { subnet, node, image, program, defaultNetwork } = options;
  const asked = subnet === undefined ? undefined : askedSubnets(subnet);
  try {
    await demandRights(client, { networks: !defaultNetwork });
    const all = await readNodes(client);
    const nodes = chooseNodes(all, node === undefined ? [] : [node].flat());
    const subnets = defaultNetwork ? undefined : (asked ?? defaultSubnets(familiesOf(all, { nodes })));
    return { id: randomBytes(3).toString('hex'), nodes, subnets, image, program };
  } catch (error) {
    throw error instanceof CliError ? error : new CliError(messageOf(error), 2);
  }
};

const readNodes = async (client: KubeClient): Promise<readonly ClusterNode[]> => {
  const nodes: ClusterNode[] = [];
  await listAll(
    client,
    NODES,
    { pageSize: 500 },
    (object) => nodes.push(clusterNode(object)),
    () => nodes.splice(0),
  );
  return nodes;
};

/** Who does not want to wait until all is deleted sends a second one, and is told how to make up for it. */
const stopOnSignals = (): AbortSignal => {
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stop.signal.aborted) {
      say('interrupted again: the namespaces may be left, udnctl connectivity --cleanup deletes them');
      process.exit(2);
    }
    stop.abort(new CliError(`interrupted by ${signal}`, 2));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  return stop.signal;
};

/** Standard output has the result alone. */
const say = (text: string): void => void process.stderr.write(`udnctl: ${text}\n`);
