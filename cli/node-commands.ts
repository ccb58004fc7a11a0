/** The commands about a node: their options, and what they read there. */
import { Argument, type Command, Option } from 'commander';
import { messageOf } from '../base/error-message.ts';
import { captureCommand } from './capture-command.ts';
import type { ServerOptions } from './cluster/server-options.ts';
import { diff } from './commands/diff.ts';
import { listProblems, problemsUnreachable } from './commands/problems.ts';
import { CliError } from './errors.ts';
import { EXPLAINED, type Explained } from './explain/explained.ts';
import { logLevelCommand } from './log-level-command.ts';
import { connectAgent } from './node/agent-client.ts';
import {
  type NodeOptions,
  nodeCommand,
  type RemoteOptions,
  type TextOptions,
  textCommand,
  withOvnRemotes,
  withRemotes,
} from './node/node-command.ts';
import { formatOutput, formatTextOutput, type Output, type OutputFormat, type TextOutput } from './output/format.ts';
import { nodeAction, withoutOwnNode } from './remote/node-action.ts';
import { PROTOCOLS, type Protocol } from './trace/packet.ts';

export interface NodeCommandOptions {
  /** There is a node around; otherwise they are about others, by the API server. */
  readonly withNode: boolean;
}

export const nodeCommands = ({ withNode }: NodeCommandOptions): Command[] => {
  const commands = [
    problemsCommand(),
    explainCommand(),
    traceCommand(),
    flowsCommand(),
    diffCommand(),
    doctorCommand(withNode),
    logLevelCommand(),
    captureCommand(),
  ];
  return withNode ? commands : commands.map(withoutOwnNode);
};

const NETWORK = 'its name, the key of a NAD (namespace/name), or the name of its CUDN';

const problemsCommand = (): Command =>
  nodeAction(
    textCommand('problems', 'list what cannot be programmed or read, by cause, the root cause first')
      .option('--all', 'list every object', false)
      .addHelpText(
        'after',
        '\nExit status: 0 no errors, 1 errors, or the node cannot be reached, 2 the agent cannot be asked.',
      ),
    {
      here: async (options: TextOptions & { all: boolean }) =>
        finish(await listProblems(connectAgent(options.agentSocket), options), options),
      unreachable: (node, cause, options) => finish(problemsUnreachable(node, cause, options), options),
    },
  );

const explainCommand = (): Command =>
  nodeAction(
    withRemotes(textCommand('explain', 'check each thing that a pod, a network or a Service needs on a node'))
      .addArgument(new Argument('<kind>', 'kind of the object').choices(EXPLAINED))
      .argument('<name>', `NAMESPACE/NAME of a pod or a Service; for a network ${NETWORK}`),
    {
      podOf: (kind, name) => (kind === 'pod' ? podName(name) : undefined),
      here: async (kind: Explained, name: string, options: TextOptions & RemoteOptions) => {
        const [{ explain }, node] = await Promise.all([import('./commands/explain.ts'), sourcesOfNode()]);
        await using databases = node.databasesOf(options);
        using kernel = node.openKernel();
        const runner = node.commandRunner();
        const sources = {
          ...databases,
          agent: connectAgent(options.agentSocket),
          runner,
          podNetns: node.podNetnsBy(kernel),
          hostTable: node.hostTableBy(runner),
        };
        finish(await explain(sources, kind, name), options);
      },
    },
  );

/** @throws CliError before anybody is asked */
const podName = (name: string): string => {
  if (/^[^/]+\/[^/]+$/.test(name)) return name;
  throw new CliError(`a pod is NAMESPACE/NAME, not "${name}"`, 2);
};

interface TraceOptions extends TextOptions, RemoteOptions {
  readonly from: readonly string[];
  readonly to: string;
  readonly network?: string;
  readonly port?: string;
  readonly proto?: Protocol;
  readonly ipFamily?: string;
  readonly established: boolean;
  readonly verbose: boolean;
  readonly raw: boolean;
}

const traceCommand = (): Command =>
  nodeAction(
    withOvnRemotes(textCommand('trace', 'trace a packet through Open vSwitch and ovn-trace'))
      .requiredOption('--from <source...>', 'pod NAMESPACE/NAME, host, or outside')
      .requiredOption(
        '--to <destination>',
        'an address, NAMESPACE/NAME of a pod of this node, or service/NAMESPACE/NAME[:PORT]',
      )
      .option('--network <network>', `network of the pod: ${NETWORK}`)
      .option('--port <port>', 'port of the destination (default: 80, or the first port of the Service)')
      .addOption(
        new Option('--proto <protocol>', 'protocol (default: tcp, or that of the port of the Service)').choices(
          PROTOCOLS,
        ),
      )
      .addOption(new Option('--ip-family <family>', 'IP family of the pod or Service to send to').choices(['4', '6']))
      .option('--established', 'trace a packet of an established connection, not the first one', false)
      .option('-v, --verbose', 'show every logical stage', false)
      .option('--raw', 'show the raw output of Open vSwitch and ovn-trace', false),
    {
      podOf: ({ from: [kind, name] }) => (kind === 'pod' ? name : undefined),
      here: async ({ ipFamily, network, ...options }: TraceOptions) => {
        const [{ trace }, node] = await Promise.all([import('./commands/trace.ts'), sourcesOfNode()]);
        await using databases = node.databasesOf({ ...options, ovsRemote: '' });
        const runner = node.commandRunner();
        const hostTable = node.hostTableBy(runner);
        const sources = { ...databases, agent: connectAgent(options.agentSocket), runner, hostTable };
        const output = await trace(sources, {
          ...options,
          network,
          protocol: options.proto,
          port: options.port === undefined ? undefined : portNumber(options.port),
          family: ipFamily === undefined ? undefined : ipFamily === '6' ? 6 : 4,
        });
        finish({ ...output, exitStatus: 0 }, options);
      },
    },
  );

const portNumber = (text: string): number => {
  const port = Number(text);
  if (/^[0-9]{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new CliError(`--port is 1 to 65535, not "${text}"`, 2);
};

interface FlowsOptions extends NodeOptions, RemoteOptions {
  readonly network?: string;
  readonly common: boolean;
  readonly summary: boolean;
}

const flowsCommand = (): Command =>
  nodeAction(
    withOvnRemotes(nodeCommand('flows', 'list the flows of br-int and of the gateway bridge by purpose'))
      .option('--network <network>', `only this network: ${NETWORK}`)
      .option('--common', 'only flows of the gateway bridge that all networks share, and foreign flows', false)
      .option('--summary', 'only their number', false),
    {
      here: async (options: FlowsOptions) => {
        if (options.network === undefined && !options.common)
          throw new CliError('--network or --common is required', 2);
        const [{ listFlows }, node] = await Promise.all([import('./commands/flows.ts'), sourcesOfNode()]);
        await using databases = node.databasesOf({ ...options, ovsRemote: '' });
        const sources = { ...databases, agent: connectAgent(options.agentSocket), runner: node.commandRunner() };
        print(await listFlows(sources, { ...options, node: options.common }), options.output);
      },
    },
  );

const diffCommand = (): Command =>
  nodeAction(
    textCommand('diff', 'compare the programmed state with the desired state')
      .option('--network <network>', `only this network: ${NETWORK}`)
      .addHelpText('after', '\nExit status: 0 no difference, 1 differences, 2 some could not be determined.'),
    {
      here: async (options: TextOptions & { network?: string }) => {
        const output = await diff(connectAgent(options.agentSocket), options).catch((error: unknown) => {
          throw new CliError(messageOf(error), 2);
        });
        finish(output, options);
      },
    },
  );

interface DoctorOptions extends TextOptions, RemoteOptions, ServerOptions {
  readonly fix: boolean;
  readonly node?: string;
}

const doctorCommand = (withNode: boolean): Command =>
  nodeAction(
    withRemotes(textCommand('doctor', 'find leftovers of deleted networks and pods on a node, and missing protections'))
      .option('--fix', 'remove the leftovers', false)
      .option(
        '--cluster [cluster]',
        'instead: check that the allocations of the cluster (ids, subnets, addresses) are consistent; asks the API server',
      )
      .addHelpText('after', '\nExit status: 0 no leftovers or problems, 1 some, 2 they could not be determined.'),
    {
      asksNoNode: ({ cluster, node }) => cluster !== undefined || (!withNode && node === undefined),
      here: async (options: DoctorOptions) => {
        if (options.cluster !== undefined || !withNode) {
          const { clusterDoctor } = await import('./commands/cluster-doctor.ts');
          return finish(await clusterDoctor(options), options);
        }
        const [{ doctor }, node] = await Promise.all([import('./commands/doctor.ts'), sourcesOfNode()]);
        await using databases = node.databasesOf(options);
        using kernel = node.openKernel();
        const runner = node.commandRunner();
        const sources = {
          ...databases,
          agent: connectAgent(options.agentSocket),
          netns: kernel.netns(),
          runner,
          conntrack: node.conntrackBy(runner),
        };
        finish(await doctor(sources, options), options);
      },
    },
  );

const sourcesOfNode = () => import('./node/sources.ts');

const print = (output: Output, format: OutputFormat): void => {
  process.stdout.write(formatOutput(output, format));
};

const finish = (output: TextOutput & { readonly exitStatus: number }, { output: format }: TextOptions): void => {
  process.stdout.write(formatTextOutput(output, format));
  process.exitCode = output.exitStatus;
};
