/** `udnctl policy`: what network policies do. */
import type { Command } from 'commander';
import { z } from 'zod';
import { isIp } from '../net/ip.ts';
import { ProgramCommand } from '../program/program-command.ts';
import { withExec } from './cluster/cluster-command.ts';
import { CliError } from './errors.ts';
import { type AgentClient, connectAgent } from './node/agent-client.ts';
import {
  type NodeOptions,
  nodeCommand,
  type RemoteOptions,
  type TextOptions,
  textCommand,
  withOvnRemotes,
} from './node/node-command.ts';
import { formatOutput, formatTextOutput, type TextOutput } from './output/format.ts';
import type { Connection } from './policy/ask-ends.ts';
import type { MatrixOutput } from './policy/matrix-output.ts';
import { parsePacket } from './policy/packet.ts';
import type { Probed, Targets } from './policy/probe/connect.ts';
import { MAX_PROBED_PODS } from './policy/probe/plan.ts';
import {
  isHere,
  nodeAction,
  runOnNode,
  type WhereOptions,
  withNodeOption,
  withoutOwnNode,
} from './remote/node-action.ts';

/** @param withNode there is a node around; otherwise nodes are asked by the API server */
export const policyCommand = ({ withNode }: { readonly withNode: boolean }): Command => {
  const policy = new ProgramCommand('policy').description('show what network policies do, and why').helpCommand(false);
  for (const command of [listCommand(), showCommand(), whyCommand(), matrixCommand()])
    policy.addCommand((withNode ? command : withoutOwnNode(command)).exitOverride());
  if (withNode) policy.addCommand(probeCommand().exitOverride(), { hidden: true });
  return policy;
};

const listCommand = (): Command =>
  nodeAction(
    nodeCommand('list', 'list the network policies that select pods of a node, and those that cannot be followed')
      .argument('[namespace]', 'only policies of this namespace')
      .option('--all', 'all policies, also those that select no pod of the node', false)
      .addHelpText(
        'after',
        '\nExit status: 0, or 1 while policies are not read yet, or a daemon of the node fails that they need to be in effect.',
      ),
    {
      here: async (namespace: string | undefined, options: NodeOptions & { readonly all: boolean }) => {
        const { listPolicies } = await import('./policy/list.ts');
        const output = await listPolicies(connectAgent(options.agentSocket), { namespace, all: options.all });
        process.stdout.write(formatOutput(output, options.output));
        for (const note of output.notes) process.stderr.write(`udnctl: ${note}\n`);
        process.exitCode = output.exitStatus;
      },
    },
  );

const showCommand = (): Command =>
  nodeAction(
    textCommand('show', 'show the rules of a network policy on a node, and the pods there that it isolates')
      .argument('<policy>', 'NAMESPACE/NAME of a NetworkPolicy, or KIND/[NAMESPACE/]NAME of another policy')
      .addHelpText(
        'after',
        '\nExit status: 0, or 1 when it cannot be followed, is not all programmed, or a daemon of the node fails that it needs.',
      ),
    {
      here: async (key: string, options: TextOptions) => {
        const { showPolicy } = await import('./policy/show.ts');
        finish(await showPolicy(connectAgent(options.agentSocket), key), options);
      },
    },
  );

const WHY_HELP = `
Each end is answered by the agent of its node: on a node, for pods of that node only; elsewhere, both nodes are asked through
the API server.
Exit status: 0 allowed, 1 denied or allowed in part only, 2 one of the two ends cannot be asked,
or not all of the answer is programmed yet, or a daemon that it needs fails.`;

const whyCommand = (): Command =>
  withNodeOption(
    textCommand(
      'why',
      'show whether network policies let a pod connect to another one, by which rule, or what is missing',
    )
      .argument('<pod>', 'NAMESPACE/NAME of the pod that connects')
      .argument('<pod>', 'NAMESPACE/NAME of the pod that it connects to, or an address')
      .argument('[port]', 'PORT or PROTOCOL/PORT of the destination, for example udp/53 (default: whatever is allowed)')
      .option('--network <network>', 'name of a secondary network that both pods are attached to (default: their own)')
      .addHelpText('after', WHY_HELP),
  ).action(
    async (
      from: string,
      to: string,
      port: string | undefined,
      options: TextOptions & WhereOptions & { readonly network?: string },
      command: Command,
    ) => {
      const connection = { ...connectionOf(from, to, port), network: options.network };
      if (options.node !== undefined) return await runOnNode(command, options, undefined);
      const { packet } = connection;
      const { endsHere, endsOnNodes } = await import('./policy/ask-ends.ts');
      const { whyOutput } = await import('./policy/why.ts');
      const ends = isHere(command, options, from)
        ? await endsHere(connectAgent(options.agentSocket), connection)
        : await withExec(options, ({ client, exec, readLog }) =>
            endsOnNodes({ client, exec, readLog, namespace: options.agentNamespace }, connection),
          );
      finish(whyOutput(ends, packet), options);
    },
  );

const MATRIX_HELP = `
Who connects is on the left. all: everything; -: nothing; ?: the node of one end cannot be asked. On a node, or with --node,
ends of pods of that node only are known; elsewhere, all nodes with pods of the namespace are asked through the API server.
With --probe each pod connects to each other one, by TCP, at up to four ports: some that are allowed and some that are not. A pod
that refuses was reached; what a pod drops by itself is not.
Exit status: 0, 1 what rows or packets do differs from what policies say, 2 not every end is known, or not known to be in effect.`;

const matrixCommand = (): Command =>
  withNodeOption(
    withOvnRemotes(
      textCommand(
        'matrix',
        'show who may connect to whom in a namespace by network policies, and compare it with the rows',
      ),
    )
      .argument('<namespace>', 'namespace of the pods')
      .option('--network <network>', 'name of a secondary network, of the pods attached to it (default: their own)')
      .option('--probe', `send packets, too, between up to ${MAX_PROBED_PODS} pods`, false)
      .addHelpText('after', MATRIX_HELP),
  ).action(async (namespace: string, options: MatrixOptions, command: Command) => {
    if (options.node !== undefined) return await runOnNode(command, options, undefined);
    finish(await matrixOf(namespace, options, command), options);
  });

interface MatrixOptions extends TextOptions, RemoteOptions, WhereOptions {
  readonly agentSocket: string;
  readonly probe: boolean;
  readonly network?: string;
}

const matrixOf = async (namespace: string, options: MatrixOptions, command: Command): Promise<MatrixOutput> => {
  const { network } = options;
  const [{ matrixOutput }, { probeMatrix }] = await Promise.all([
    import('./policy/matrix-output.ts'),
    import('./policy/probe/probe.ts'),
  ]);
  if (!isHere(command, options, namespace)) {
    const { matrixOfNodes, probeOnNodes } = await import('./policy/matrix-of-nodes.ts');
    return await withExec(options, async ({ client, exec, readLog }) => {
      const tools = { client, exec, readLog, namespace: options.agentNamespace };
      const { matrix, nodes } = await matrixOfNodes(tools, namespace, network);
      if (!options.probe) return matrixOutput(matrix);
      return matrixOutput(
        matrix,
        await probeMatrix(matrix, (targets) => probeOnNodes(tools, nodes, namespace, { ...targets, network })),
      );
    });
  }
  const [{ matrixHere }, node] = await Promise.all([import('./policy/matrix.ts'), import('./node/sources.ts')]);
  await using databases = node.databasesOf({ ...options, ovsRemote: '' });
  const agent = connectAgent(options.agentSocket);
  const matrix = await matrixHere({ agent, northbound: databases.northbound }, namespace, network);
  if (!options.probe) return matrixOutput(matrix);
  return matrixOutput(
    matrix,
    await probeMatrix(matrix, (targets) => sendHere(agent, namespace, { ...targets, network })),
  );
};

/** For `matrix --probe` on other nodes. */
const probeCommand = (): Command =>
  textCommand('probe', 'connect from the pods of a namespace that are on this node, and print how that ended')
    .argument('<namespace>', 'namespace of the pods')
    .argument('<addresses>', 'addresses to connect to, separated by commas', listOf(z.ipv4().or(z.ipv6())))
    .argument('<ports>', 'ports of TCP, separated by commas', listOf(z.coerce.number().int().min(1).max(65_535)))
    .option('--network <network>', 'only from pods that are attached to this secondary network')
    .action(async (namespace: string, addresses: string[], ports: number[], options: ProbeOptions) => {
      const targets = { addresses, ports, network: options.network };
      const probed = await sendHere(connectAgent(options.agentSocket), namespace, targets);
      process.stdout.write(`${JSON.stringify(probed)}\n`);
    });

interface ProbeOptions extends TextOptions {
  readonly network?: string;
}

const MAX_TARGETS = 2 * MAX_PROBED_PODS;

const listOf =
  <Element>(element: z.ZodType<Element>) =>
  (text: string): Element[] => {
    const list = z.array(element).min(1).max(MAX_TARGETS).safeParse(text.split(','));
    if (!list.success) throw new CliError(`"${text.slice(0, 100)}" is no such list`, 2);
    return list.data;
  };

const sendHere = async (agent: Pick<AgentClient, 'pods'>, namespace: string, targets: Targets): Promise<Probed> => {
  const [{ probeHere }, node] = await Promise.all([import('./policy/probe/connect.ts'), import('./node/sources.ts')]);
  using kernel = node.openKernel();
  const pods = await agent.pods();
  const tools = { pods, netns: node.podNetnsBy(kernel), runner: node.commandRunner() };
  return await probeHere(tools, namespace, targets);
};

const connectionOf = (from: string, to: string, port: string | undefined): Connection => {
  const wrong = [from, to].find((one) => !/^[^/\s]+\/[^/\s]+$/.test(one) && !(one === to && isIp(one)));
  if (wrong !== undefined) throw new CliError(`a pod is NAMESPACE/NAME, not "${wrong}"`, 2);
  return { from, to, packet: port === undefined ? undefined : parsePacket(port) };
};

const finish = (output: TextOutput & { readonly exitStatus: number }, { output: format }: TextOptions): void => {
  process.stdout.write(formatTextOutput(output, format));
  process.exitCode = output.exitStatus;
};
