/** `udnctl capture`: its options, and whether the pod's node is this one. */
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { systemClock } from '../base/clock.ts';
import { ProgramCommand } from '../program/program-command.ts';
import { USUAL_COUNT } from './capture/budget.ts';
import { captureOutput } from './capture/output.ts';
import { withExec } from './cluster/cluster-command.ts';
import { parseTimeout } from './cluster/request-timeout.ts';
import { CliError } from './errors.ts';
import { connectAgent, DEFAULT_AGENT_SOCKET } from './node/agent-client.ts';
import { type RemoteOptions, withOvnRemotes } from './node/node-command.ts';
import { isHere, type WhereOptions, withNodeOption } from './remote/node-action.ts';
import { findAgentPod, nodeOfPod } from './remote/node-tools.ts';

interface CaptureOptions extends WhereOptions, RemoteOptions {
  readonly namespace?: string;
  readonly duration: string;
  readonly count?: string;
  readonly filter: string;
  readonly output?: string;
  readonly end?: string;
}

export const captureCommand = (): Command =>
  withNodeOption(
    withOvnRemotes(
      new ProgramCommand('capture')
        .description("capture a pod's packets at each hop of its node, with tcpdump")
        .argument('[pod]', 'NAMESPACE/NAME, or NAME with --namespace')
        .option('-n, --namespace <namespace>', 'namespace of the pod')
        .option('--duration <duration>', 'end after this time, at most 1h', '10s')
        .option(
          '--count <count>',
          `end a hop after this number of packets (default: ${USUAL_COUNT}, or as many as may be stored)`,
        )
        .option('--filter <expression>', 'only packets that match it, as in pcap-filter(7)', '')
        .option('--output <path>', 'a new directory, a file .tar, or - for a tar on standard output')
        .addOption(
          new Option('--agent-socket <file>', "the agent's status socket")
            .env('UDN_STATUS_SOCKET')
            .default(DEFAULT_AGENT_SOCKET),
        )
        .addOption(new Option('--end <pid>', 'end that capture').hideHelp()),
    ),
  )
    .addHelpText('after', '\nExit status: 0 captured, 1 no hop could be captured, 2 usage error.')
    .action(async (pod: string | undefined, options: CaptureOptions, command: Command) => {
      if (options.end !== undefined) endCapture(options.end);
      else if (pod === undefined) throw new CliError('which pod? NAMESPACE/NAME', 2);
      else if (options.node === undefined && isHere(command, options, pod)) await captureHere(pod, options);
      else await captureThere(pod, options);
    });

const captureHere = async (pod: string, options: CaptureOptions): Promise<void> => {
  const key = keyOf(pod, options.namespace ?? 'default');
  const { nbRemote, sbRemote, agentSocket = DEFAULT_AGENT_SOCKET, filter } = options;
  const output = captureOutput(options.output, key, new Date());
  const [{ capturePod }, node] = await Promise.all([import('./commands/capture.ts'), import('./node/sources.ts')]);
  await using databases = node.databasesOf({ nbRemote, sbRemote, ovsRemote: '' });
  const { northbound, southbound } = databases;
  const agent = connectAgent(agentSocket);
  const sources = { agent, runner: node.commandRunner(), clock: systemClock, northbound, southbound };
  const ending = new AbortController();
  onInterrupt(() => ending.abort());
  const request = { pod: key, filter, output, agentSocket, ...limitsOf(options) };
  const { captured } = await capturePod(sources, request, { signal: ending.signal, stdout, tell });
  process.exitCode = captured.length === 0 ? 1 : 0;
};

const captureThere = (pod: string, options: CaptureOptions): Promise<void> =>
  withExec(options, async ({ client, exec, readLog, namespace }) => {
    const key = keyOf(pod, options.namespace ?? namespace);
    const output = captureOutput(options.output, key, new Date());
    // Refused here, before a node is asked.
    const { durationMs, count } = limitsOf(options);
    const tools = { client, exec, readLog, namespace: options.agentNamespace };
    const node = options.node ?? (await nodeOfPod(tools, key));
    const agent = await findAgentPod(tools, node);
    const counted = count === undefined ? [] : [`--count=${count}`];
    const limits = [`--duration=${durationMs}ms`, ...counted, `--filter=${options.filter}`];
    const words = ['capture', '--output=-', ...limits, '--', key];
    const { captureOnNode } = await import('./capture/on-node.ts');
    const { status } = await captureOnNode({ tools, agent, words, output }, { onInterrupt, stdout, tell }).catch(
      async (error: unknown) => {
        const { withKnownCause } = await import('./remote/known-cause.ts');
        throw await withKnownCause(error, { client, node, command: 'capture' });
      },
    );
    process.exitCode = status;
  });

/** @throws CliError */
const keyOf = (pod: string, namespace: string): string => {
  if (/^[^/]+$/.test(pod)) return `${namespace}/${pod}`;
  if (/^[^/]+\/[^/]+$/.test(pod)) return pod;
  throw new CliError(`a pod is NAMESPACE/NAME, not "${pod}"`, 2);
};

const MAX_DURATION_MS = 3_600_000;
const MAX_COUNT = 1_000_000;

const limitsOf = ({ duration, count: counted }: CaptureOptions) => {
  const durationMs = parseTimeout(duration) ?? 0;
  if (durationMs <= 0 || durationMs > MAX_DURATION_MS)
    throw new CliError(`--duration is up to 1h, for example 30s, not "${duration}"`, 2);
  if (counted === undefined) return { durationMs, count: undefined };
  const count = Number(counted);
  if (!/^[0-9]+$/.test(counted) || count < 1 || count > MAX_COUNT)
    throw new CliError(`--count is 1 to ${MAX_COUNT}, not "${counted}"`, 2);
  return { durationMs, count };
};

/** As a person's Ctrl-C on this node would. Only of what is a capture. */
const endCapture = (pid: string): void => {
  const words = /^[0-9]+$/.test(pid) ? commandLineOf(pid) : [];
  if (words.includes('capture')) process.kill(Number(pid), 'SIGINT');
};

const commandLineOf = (pid: string): readonly string[] => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    // It has ended by itself.
    return [];
  }
};

const onInterrupt = (callback: () => void): void => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, callback);
};

const stdout = (bytes: Uint8Array): void => void process.stdout.write(bytes);
const tell = (text: string): void => void process.stderr.write(text);
