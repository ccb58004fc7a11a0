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
import { type Cleanup, deleteLeftovers, deleteRun } from '../connectivity/leftovers.ts';
import { demandRights } from '../connectivity/rights.ts';
import { RUN_LABEL, type Run, TESTS, type TestName } from '../connectivity/run.ts';
import { stopOnSignals } from '../connectivity/stop-on-signals.ts';
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
  readonly force: boolean;
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
      .option('--timeout <duration>', 'how long to wait for the pods', durationOf, 120_000)
      .option('--probe-timeout <duration>', 'after how long a probe gives up', durationOf, 3_000)
      .option('--cleanup', 'only delete leftovers of earlier runs', false)
      .option('--force', 'with --cleanup: also namespaces younger than 15 minutes, perhaps of a run in progress', false)
      .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('table'))
      .addHelpText('after', STATUS_CODES),
  ).action(async (options: ConnectivityOptions) => {
    const { cleanup, force } = options;
    if (force && !cleanup) throw new CliError('--force is for --cleanup', 2);
    await withExec(options, (server) => (cleanup ? cleanUp(server.client, force) : testConnectivity(server, options)));
  });

/** In milliseconds. */
const durationOf = (text: string): number => {
  const milliseconds = parseTimeout(text);
  if (milliseconds === undefined) throw new InvalidArgumentError('expected a duration such as 30s or 2m.');
  return milliseconds;
};

const cleanUp = async (client: KubeClient, force: boolean): Promise<void> => {
  const lines = cleanupLines(await deleteLeftovers(client, { now: systemClock.wall(), force }));
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
};

const cleanupLines = ({ deleted, recent, foreign }: Cleanup): readonly string[] => {
  const lines = [
    ...deleted.map((name) => `${name} deleted`),
    ...recent.map((name) => `${name} kept: younger than 15 minutes, perhaps of a run in progress; --force deletes it`),
    ...foreign.map((name) => `${name} kept: it has label ${RUN_LABEL}, but not the name of a run`),
  ];
  return lines.length === 0 ? ['no leftovers'] : lines;
};

const testConnectivity = async (server: ServerWithExec, options: ConnectivityOptions): Promise<void> => {
  const run = await prepare(server.client, options);
  const stop = stopOnSignals(process, onSecond);
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
    await deleteRun(server.client, run);
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

/** Who does not want to wait until all is deleted learns how to make up for it. */
const onSecond = (): void => {
  say('interrupted again: the namespaces may be left, udnctl connectivity --cleanup --force deletes them');
  process.exit(2);
};

/** Standard output has the result alone. */
const say = (text: string): void => void process.stderr.write(`udnctl: ${text}\n`);
