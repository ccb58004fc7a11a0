/** The commands that ask the API server: from anywhere, with the kubeconfig and the rights of who runs them. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { KubeError } from '../kube/errors.ts';
import { ProgramCommand } from '../program/program-command.ts';
import { type NamespaceOptions, withClient, withNamespace } from './cluster/cluster-command.ts';
import { SERVER_OPTIONS, type ServerOptions, withServer } from './cluster/server-options.ts';
import type { BundleOptions } from './commands/bundle.ts';
import type { ListOptions, ListOutput } from './commands/cluster-lists.ts';
import type { ConsoleOptions } from './commands/console.ts';
import { listNetworks } from './commands/networks.ts';
import { listPods } from './commands/pods.ts';
import { CliError } from './errors.ts';
import { connectAgent, DEFAULT_AGENT_SOCKET } from './node/agent-client.ts';
import {
  formatOutput,
  formatTextOutput,
  OUTPUT_FORMATS,
  type Output,
  type OutputFormat,
  TEXT_FORMATS,
  type TextFormat,
} from './output/format.ts';
import { agentNamespaceOption, askOnNode, type NodeAnswer, runOnNode, withNodeOption } from './remote/node-action.ts';

export interface ClusterCommandOptions {
  /** There is a node around: lists can be had from its agent. */
  readonly withNode: boolean;
}

export const clusterCommands = ({ withNode }: ClusterCommandOptions): Command[] => [
  networksCommand(withNode),
  podsCommand(withNode),
  servicesCommand(),
  statusCommand(withNode),
  whyCommand(),
  usageCommand(),
  bundleCommand(),
  graphCommand(),
  consoleCommand(),
];

const LIST_FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

interface Options extends NamespaceOptions {
  readonly agentSocket?: string;
  readonly selector?: string;
  readonly network?: string;
  readonly node?: string;
  readonly agentNamespace: string;
  readonly agent?: boolean;
  readonly output: (typeof LIST_FORMATS)[number];
}

const listCommand = (name: string, description: string, withNode: boolean): Command => {
  const command = withListOptions(withClusterFlag(new ProgramCommand(name).description(description), withNode));
  if (!withNode) return command;
  return withAgentSocket(command);
};

const withAgentSocket = (command: Command): Command =>
  command
    .addOption(
      new Option('--agent-socket <file>', "the agent's status socket")
        .env('UDN_STATUS_SOCKET')
        .default(DEFAULT_AGENT_SOCKET),
    )
    .addHelpText('after', WHO_IS_ASKED);

const withListOptions = (command: Command): Command =>
  withNamespace(command)
    .option('-l, --selector <selector>', 'label selector, for example app=web,tier!=db')
    .addOption(new Option('-o, --output <format>', 'output format').choices(LIST_FORMATS).default('table'));

/** `--cluster` alone; with a name it is kubectl's. Where no agent is, it is kubectl's and no more. */
const withClusterFlag = (command: Command, withNode: boolean): Command =>
  withNode ? command.option('--cluster [cluster]', 'ask the API server, even on a node with an agent') : command;

const WHO_IS_ASKED = `
On a node, where the directory of the agent's status socket exists, the agent is asked: it shows the state of this node.
Elsewhere, and with --cluster, -A, -l or a flag that selects the API server, that server is asked: it shows the state of the cluster.`;

const networksCommand = (withNode: boolean): Command =>
  withNodeOption(listCommand('networks', 'list user-defined networks and their state', withNode)).action(
    async (options: Options, command: Command) => {
      if (asksNode(options, command)) await runOnNode(command, options, undefined);
      else if (asksAgent(options, command))
        print(await listNetworks(connectAgent(options.agentSocket ?? ''), options), options);
      else printList(await (await clusterLists()).listClusterNetworks(listOptions(options)), options);
    },
  );

const podsCommand = (withNode: boolean): Command =>
  listCommand('pods', 'list pods and their addresses on every network', withNode)
    .option('--network <network>', 'only this network: its name or the key of a NAD')
    // UDN_NODE is the agent's own, and its pod has udnctl, too.
    .addOption(new Option('--node <node>', 'only pods of this node; asks the API server').env('UDNCTL_NODE'))
    .option('--agent', 'with --node: ask the agent of that node, by exec into its pod', false)
    .addOption(agentNamespaceOption())
    .action(async (options: Options, command: Command) => {
      if (options.agent === true) await runOnNode(command, options, undefined);
      else if (asksAgent(options, command))
        print(await listPods(connectAgent(options.agentSocket ?? ''), options), options);
      else printList(await (await clusterLists()).listClusterPods(listOptions(options)), options);
    });

const STATUS_CODES = '\nExit status: 0 all components work, 1 a component fails or its state is unknown.';

const statusCommand = (withNode: boolean): Command =>
  withStatusOptions(
    new ProgramCommand('status')
      .description('show the state of the components that networks need')
      .argument('[node]', 'ask the agent of this node, by exec into its pod; if that fails, show what it has reported'),
    withNode,
  ).action(async (named: string | undefined, options: Options, command: Command) => {
    if (named !== undefined) return await statusOf(named, options, command);
    if (options.agent === true) return await runOnNode(command, options, undefined);
    const { clusterStatus, nodeStatus } = await import('./commands/status.ts');
    const output = asksAgent(options, command)
      ? await nodeStatus(connectAgent(options.agentSocket ?? ''))
      : await withClient(options, ({ client }) => clusterStatus(client, { only: options.node, now: Date.now() }));
    print(output, options);
    process.exitCode = output.exitStatus;
  });

/** Of a node that may not be asked, or does not answer, there is at least what its agent has reported. */
const statusOf = async (node: string, options: Options, command: Command): Promise<void> => {
  if (command.getOptionValueSource('node') === 'cli') throw new CliError('either NODE or --node, not both', 2);
  const answer = await (options.cluster === true ? undefined : askedOrWhyNot(node, options, command));
  if (answer !== undefined && answer.stdout !== '') {
    process.stdout.write(answer.stdout);
    process.stderr.write(answer.stderr);
    process.exitCode = answer.exitStatus;
    return;
  }
  const { clusterStatus } = await import('./commands/status.ts');
  const output = await withClient(options, ({ client }) => clusterStatus(client, { only: node, now: Date.now() }));
  if (answer !== undefined)
    process.stderr.write(`${answer.stderr.trimEnd()}\nudnctl: this is what its agent has reported\n`);
  print(output, options);
  process.exitCode = answer === undefined ? output.exitStatus : 1;
};

const askedOrWhyNot = (node: string, options: Options, command: Command): Promise<NodeAnswer> =>
  askOnNode(command, options, node).catch((error: unknown) => {
    if (!(error instanceof CliError || error instanceof KubeError)) throw error;
    return { stdout: '', stderr: `udnctl: ${error.message}\n`, exitStatus: 1 };
  });

const withStatusOptions = (command: Command, withNode: boolean): Command => {
  const common = withServer(withClusterFlag(command, withNode))
    .addOption(new Option('--node <node>', 'only this node; asks the API server').env('UDNCTL_NODE'))
    .option('--agent', 'with --node: ask the agent of that node, by exec into its pod', false)
    .addOption(agentNamespaceOption())
    .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('table'))
    .addHelpText('after', STATUS_CODES);
  return withNode ? withAgentSocket(common) : common;
};

/** Of the API server alone, also on a node. */
const servicesCommand = (): Command =>
  withListOptions(
    new ProgramCommand('services')
      .description('list Services, their networks and the endpoints of their ClusterIPs')
      .option('--cluster [cluster]', 'accepted for symmetry: this command always asks the API server'),
  ).action(async (options: Options) =>
    printList(await (await clusterLists()).listClusterServices(listOptions(options)), options),
  );

const clusterLists = () => import('./commands/cluster-lists.ts');

const listOptions = ({ output, ...options }: Options): ListOptions => ({ ...options, isWide: output === 'wide' });

/** What says where the API server is, or asks what only it knows, is meant for it. */
const asksAgent = (options: Options, command: Command): boolean => {
  const { agentSocket } = options;
  if (agentSocket === undefined) return false;
  if (OF_CLUSTER.some((name) => command.getOptionValueSource(name) === 'cli')) return false;
  // Its folder, and not the socket: where an agent should be and is not, that has to be said.
  return command.getOptionValueSource('agentSocket') !== 'default' || existsSync(dirname(agentSocket));
};

/** A node that the environment names is not asked for what only the API server has. @throws CliError */
const asksNode = ({ node, cluster }: Options, command: Command): boolean => {
  const isOfCluster =
    cluster === true ||
    ['allNamespaces', 'namespace', 'selector'].some((name) => command.getOptionValueSource(name) === 'cli');
  if (node === undefined || !isOfCluster) return node !== undefined;
  if (command.getOptionValueSource('node') !== 'cli') return false;
  throw new CliError('--node queries the agent of that node and cannot be combined with -n, -A, -l and --cluster', 2);
};

const OF_CLUSTER = [...SERVER_OPTIONS, 'allNamespaces', 'selector', 'node'];

const print = (output: Output, { output: format }: Pick<Options, 'output'>): void => {
  process.stdout.write(formatOutput(output, format === 'wide' ? 'table' : format));
};

const printList = ({ notes, ...output }: ListOutput, options: Pick<Options, 'output'>): void => {
  print(output, options);
  process.stderr.write(notes.map((note) => `udnctl: ${note}\n`).join(''));
};

const usageCommand = (): Command =>
  withServer(new ProgramCommand('usage').description('count used and free addresses of networks, nodes and namespaces'))
    .argument(
      '[network]',
      'only this network, with its nodes: its name, NAMESPACE/NAME of a UDN, or the name of a CUDN',
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('table'))
    .action(async (network: string | undefined, options: ServerOptions & { output: OutputFormat }) => {
      const { showUsage } = await import('./commands/usage.ts');
      const { notes, ...output } = await showUsage(network, options);
      process.stdout.write(formatOutput(output, options.output));
      process.stderr.write(notes.map((note) => `udnctl: ${note}\n`).join(''));
    });

const bundleCommand = (): Command =>
  withServer(
    new ProgramCommand('bundle')
      .description('write an archive for a bug report: objects, logs and dumps of nodes, without secrets')
      .option('-o, --output-file <file>', 'path of the archive (default: udn-bundle-DATE-TIME.tar.gz)')
      .option('--node <node...>', 'only dumps of these nodes')
      .addOption(agentNamespaceOption()),
  ).action(async (options: BundleOptions) => {
    const { writeBundle } = await import('./commands/bundle.ts');
    process.stdout.write(`${await writeBundle(options)}\n`);
  });

const graphCommand = (): Command =>
  withNamespace(
    new ProgramCommand('graph').description('draw networks, Services, nodes and pods, with broken ones in red'),
  )
    .argument('[network]', 'only this one, by its name or object: red_net, red/net')
    .option('-o, --output <file>', 'svg or mermaid for standard output, or a file .svg, .mmd or .mermaid', 'svg')
    .action(async (network: string | undefined, options: NamespaceOptions & { readonly output: string }) => {
      const { drawGraph } = await import('./commands/graph.ts');
      const notes = await drawGraph(network, options);
      process.stderr.write(notes.map((note) => `udnctl: ${note}\n`).join(''));
    });

const consoleCommand = (): Command =>
  withServer(
    new ProgramCommand('console').description(
      'serve a page of networks, nodes and their health on localhost, with your own rights, until it is interrupted',
    ),
  )
    .option('-n, --namespace <namespace>', 'watch only this namespace (default: all)')
    .addOption(new Option('--port <port>', 'TCP port to listen on; 0 takes a free one').argParser(readPort).default(0))
    .option('--no-browser', 'print the address and open no browser')
    .addOption(agentNamespaceOption())
    .action(async (options: ConsoleOptions) => {
      const ended = new AbortController();
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => ended.abort());
      const { runConsole } = await import('./commands/console.ts');
      await runConsole(options, (line) => void process.stdout.write(`${line}\n`), ended.signal);
    });

const readPort = (text: string): number => {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('Expected a port, 0 to 65535.');
};

interface WhyOptions extends NamespaceOptions {
  readonly output: TextFormat;
}

const whyCommand = (): Command =>
  withNamespace(
    new ProgramCommand('why').description('explain why a pod, a Service or a network is not ready or not deleted'),
  )
    .argument('<subject>', 'a pod, or a kind: pod, service, network, udn, cudn')
    .argument('[name]', 'the object: NAMESPACE/NAME, or NAME in the current namespace; for a network also its own name')
    .addOption(new Option('-o, --output <format>', 'output format').choices(TEXT_FORMATS).default('text'))
    .addHelpText('after', '\nExit status: 0 ready, 1 not ready (the output gives the reason), 2 usage error.')
    .action(async (subject: string, name: string | undefined, options: WhyOptions) => {
      const { whyOf } = await import('./commands/why.ts');
      const output = await whyOf(name === undefined ? [subject] : [subject, name], options);
      process.stdout.write(formatTextOutput(output, options.output));
      process.exitCode = output.exitStatus;
    });
