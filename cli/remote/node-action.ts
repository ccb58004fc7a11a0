/** Lets a command about a node be run here, on the node, or from anywhere by the pod of the node's agent. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Command, Option } from 'commander';
import { PROGRAMS_NAMESPACE, withExec } from '../cluster/cluster-command.ts';
import { SERVER_OPTIONS, type ServerOptions, withServer } from '../cluster/server-options.ts';
import { CliError, UnreachableNodeError } from '../errors.ts';
import { findAgentPod, type NodeTools, nodeOfPod, runInAgentPod, UDNCTL_PATH } from './node-tools.ts';
import { remoteOptions, remoteWords } from './remote-words.ts';

export interface NodeAction<Args extends readonly unknown[]> {
  /** What it does where the agent is. */
  readonly here: (...args: Args) => Promise<void>;
  /** The pod that it is about, whose node is the one to ask when none is named. */
  readonly podOf?: (...args: Args) => string | undefined;
  /** It asks no node. */
  readonly asksNoNode?: (...args: Args) => boolean;
  /** Answers without the node, which cannot be reached. Default: an error message. @param cause what the API server knows of it */
  readonly unreachable?: (node: string, cause: string, ...args: Args) => void;
}

export interface WhereOptions extends ServerOptions {
  readonly node?: string;
  readonly agentNamespace: string;
  readonly agentSocket?: string;
}

/** The options of where; call it after those of the command itself. */
export const withNodeOption = (command: Command): Command =>
  withServer(
    command
      .addOption(
        // UDN_NODE is the agent's own, and its pod has udnctl, too.
        new Option(
          '--node <node>',
          'run the command on this node: in the pod of its agent, through the API server',
        ).env('UDNCTL_NODE'),
      )
      .addOption(agentNamespaceOption()),
  );

export const agentNamespaceOption = (): Option =>
  new Option('--agent-namespace <namespace>', 'namespace of the pods of udn-agent')
    .env('UDNCTL_AGENT_NAMESPACE')
    .default(PROGRAMS_NAMESPACE);

export const nodeAction = <Args extends readonly unknown[]>(command: Command, action: NodeAction<Args>): Command =>
  withNodeOption(command).action(async (...all: unknown[]) => {
    // commander hands on the arguments, the options and the command, whose types `here` declares.
    const args = all as unknown as Args;
    const options = command.opts<WhereOptions>();
    if (action.asksNoNode?.(...args)) return await action.here(...args);
    const pod = options.node === undefined ? action.podOf?.(...args) : undefined;
    if (options.node === undefined && isHere(command, options, pod)) return await action.here(...args);
    const { unreachable } = action;
    await runOnNode(command, options, pod, unreachable && ((node, cause) => unreachable(node, cause, ...args)));
  });

/** Where neither a node nor a pod is known, the error message of the agent that is missing says what to do. */
export const isHere = (command: Command, { agentSocket }: WhereOptions, pod: string | undefined): boolean => {
  if (agentSocket === undefined) return false;
  if (command.getOptionValueSource('agentSocket') !== 'default') return true;
  if (SERVER_OPTIONS.some((name) => name !== 'cluster' && command.getOptionValueSource(name) === 'cli')) return false;
  // Its folder, and not the socket: where an agent should be and is not, that has to be said.
  return pod === undefined || existsSync(dirname(agentSocket));
};

/** For who has a kubeconfig and no node: where the sockets of this machine are is of no interest. */
export const withoutOwnNode = (command: Command): Command => {
  for (const option of command.options) {
    const name = option.attributeName();
    if (!OF_OWN_NODE.includes(name)) continue;
    option.hideHelp();
    command.setOptionValueWithSource(name, undefined, undefined);
  }
  return command;
};

const OF_OWN_NODE: readonly string[] = ['agentSocket', 'nbRemote', 'sbRemote', 'ovsRemote'];

/** Hands on what the command writes, as it comes, and its exit status. @throws CliError whose first line is the cause */
export const runOnNode = (
  command: Command,
  options: WhereOptions,
  pod: string | undefined,
  unreachable?: (node: string, cause: string) => void,
): Promise<void> =>
  withExec(options, async ({ client, exec, readLog }) => {
    const tools: NodeTools = { client, exec, readLog, namespace: options.agentNamespace };
    const node = options.node ?? (pod === undefined ? undefined : await nodeOfPod(tools, pod));
    if (node === undefined) throw new CliError('which node? --node names it', 2);
    const agent = await findAgentPod(tools, node);
    // Behind the cause, where the node cannot be reached.
    const doubted = once(() => agent.doubt !== undefined && process.stderr.write(`udnctl: ${agent.doubt}\n`));
    const handOn = (stream: NodeJS.WriteStream) => (chunk: Uint8Array) => {
      doubted();
      stream.write(chunk);
    };
    const output = { stdout: handOn(process.stdout), stderr: handOn(process.stderr) };
    try {
      process.exitCode = await runInAgentPod(tools, agent, [UDNCTL_PATH, ...remoteWords(command)], output);
    } catch (error) {
      const { readKnownCause, withKnownCause } = await knownCauses();
      if (unreachable === undefined || !(error instanceof UnreachableNodeError))
        throw await withKnownCause(error, { client, node, command: command.name() });
      unreachable(node, (await readKnownCause(client, node)) ?? `${node} cannot be reached`);
      process.stderr.write(`udnctl: ${error.message}\n`);
    }
    doubted();
  });

const knownCauses = () => import('./known-cause.ts');

const once = (callback: () => unknown): (() => void) => {
  let isCalled = false;
  return () => {
    if (isCalled) return;
    isCalled = true;
    callback();
  };
};

export interface NodeAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitStatus: number;
}

/** What the command without its arguments writes on this node. @throws CliError, KubeError when the node cannot be asked */
export const askOnNode = (command: Command, options: WhereOptions, node: string): Promise<NodeAnswer> =>
  withExec(options, async ({ client, exec, readLog }) => {
    const tools: NodeTools = { client, exec, readLog, namespace: options.agentNamespace };
    const agent = await findAgentPod(tools, node);
    const written = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    const output = {
      stdout: (chunk: Uint8Array) => void written.stdout.push(Buffer.from(chunk)),
      stderr: (chunk: Uint8Array) => void written.stderr.push(Buffer.from(chunk)),
    };
    const words = [UDNCTL_PATH, ...remoteOptions(command)];
    const exitStatus = await runInAgentPod(tools, agent, words, output).catch(async (error: unknown) => {
      throw await (await knownCauses()).withKnownCause(error, { client, node, command: command.name() });
    });
    const textOf = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString();
    const doubt = agent.doubt === undefined ? '' : `udnctl: ${agent.doubt}\n`;
    return { stdout: textOf(written.stdout), stderr: doubt + textOf(written.stderr), exitStatus };
  });
