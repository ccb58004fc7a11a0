/** `udnctl policy`: what network policies do. */
import type { Command } from 'commander';
import { isIp } from '../net/ip.ts';
import { ProgramCommand } from '../program/program-command.ts';
import { withExec } from './cluster/cluster-command.ts';
import { CliError } from './errors.ts';
import { connectAgent } from './node/agent-client.ts';
import { lazyDatabase } from './node/database.ts';
import {
  type NodeOptions,
  nodeCommand,
  type RemoteOptions,
  type TextOptions,
  textCommand,
  withOvnRemotes,
} from './node/node-command.ts';
import { formatOutput, formatTextOutput, type TextOutput } from './output/format.ts';
import { type Connection, endsHere, endsOnNodes } from './policy/ask-ends.ts';
import { listPolicies } from './policy/list.ts';
import { matrixHere, type PolicyMatrix } from './policy/matrix.ts';
import { matrixOfNodes } from './policy/matrix-of-nodes.ts';
import { matrixOutput } from './policy/matrix-output.ts';
import { parsePacket } from './policy/packet.ts';
import { showPolicy } from './policy/show.ts';
import { whyOutput } from './policy/why.ts';
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
  return policy;
};

const listCommand = (): Command =>
  nodeAction(
    nodeCommand('list', 'list the network policies that select pods of a node, and those that cannot be followed')
      .argument('[namespace]', 'only policies of this namespace')
      .option('--all', 'all policies, also those that select no pod of the node', false)
      .addHelpText('after', '\nExit status: 0, or 1 while policies are not read yet.'),
    {
      here: async (namespace: string | undefined, options: NodeOptions & { readonly all: boolean }) => {
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
      .argument('<policy>', 'NAMESPACE/NAME of a NetworkPolicy')
      .addHelpText('after', '\nExit status: 0, or 1 when it cannot be followed or is not all programmed.'),
    {
      here: async (key: string, options: TextOptions) =>
        finish(await showPolicy(connectAgent(options.agentSocket), key), options),
    },
  );

const WHY_HELP = `
Each end is answered by the agent of its node: on a node, for pods of that node only; elsewhere, both nodes are asked through
the API server.
Exit status: 0 allowed, 1 denied or allowed in part only, 2 one of the two ends cannot be asked,
or not all of the answer is programmed yet.`;

const whyCommand = (): Command =>
  withNodeOption(
    textCommand(
      'why',
      'show whether network policies let a pod connect to another one, by which rule, or what is missing',
    )
      .argument('<pod>', 'NAMESPACE/NAME of the pod that connects')
      .argument('<pod>', 'NAMESPACE/NAME of the pod that it connects to, or an address')
      .argument('[port]', 'PORT or PROTOCOL/PORT of the destination, for example udp/53 (default: whatever is allowed)')
      .addHelpText('after', WHY_HELP),
  ).action(
    async (
      from: string,
      to: string,
      port: string | undefined,
      options: TextOptions & WhereOptions,
      command: Command,
    ) => {
      const connection = connectionOf(from, to, port);
      if (options.node !== undefined) return await runOnNode(command, options, undefined);
      const { packet } = connection;
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
Exit status: 0, 1 rows let something else through than policies say, 2 not every end is known.`;

const matrixCommand = (): Command =>
  withNodeOption(
    withOvnRemotes(
      textCommand(
        'matrix',
        'show who may connect to whom in a namespace by network policies, and compare it with the rows',
      ),
    )
      .argument('<namespace>', 'namespace of the pods')
      .addHelpText('after', MATRIX_HELP),
  ).action(async (namespace: string, options: TextOptions & RemoteOptions & WhereOptions, command: Command) => {
    if (options.node !== undefined) return await runOnNode(command, options, undefined);
    finish(matrixOutput(await matrixOf(namespace, options, command)), options);
  });

const matrixOf = async (
  namespace: string,
  options: TextOptions & RemoteOptions & WhereOptions,
  command: Command,
): Promise<PolicyMatrix> => {
  if (!isHere(command, options, namespace)) {
    return await withExec(options, ({ client, exec, readLog }) =>
      matrixOfNodes({ client, exec, readLog, namespace: options.agentNamespace }, namespace),
    );
  }
  const database = lazyDatabase('OVN_Northbound', options.nbRemote);
  try {
    return await matrixHere({ agent: connectAgent(options.agentSocket), northbound: database.transact }, namespace);
  } finally {
    await database.close();
  }
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
