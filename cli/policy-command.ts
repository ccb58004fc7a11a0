/** `udnctl policy`: what network policies do. */
import type { Command } from 'commander';
import { isIp } from '../net/ip.ts';
import { ProgramCommand } from '../program/program-command.ts';
import { withExec } from './cluster/cluster-command.ts';
import { CliError } from './errors.ts';
import { connectAgent } from './node/agent-client.ts';
import { type NodeOptions, nodeCommand, type TextOptions, textCommand } from './node/node-command.ts';
import { formatOutput, formatTextOutput, type TextOutput } from './output/format.ts';
import { type Connection, endsHere, endsOnNodes } from './policy/ask-ends.ts';
import { listPolicies } from './policy/list.ts';
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
  for (const command of [listCommand(), showCommand(), whyCommand()])
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
Exit status: 0 allowed, 1 denied or allowed in part only, 2 one of both ends cannot be asked.`;

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

const connectionOf = (from: string, to: string, port: string | undefined): Connection => {
  const wrong = [from, to].find((one) => !/^[^/\s]+\/[^/\s]+$/.test(one) && !(one === to && isIp(one)));
  if (wrong !== undefined) throw new CliError(`a pod is NAMESPACE/NAME, not "${wrong}"`, 2);
  return { from, to, packet: port === undefined ? undefined : parsePacket(port) };
};

const finish = (output: TextOutput & { readonly exitStatus: number }, { output: format }: TextOptions): void => {
  process.stdout.write(formatTextOutput(output, format));
  process.exitCode = output.exitStatus;
};
