/** `udnctl capture` on the pod's node: a file of packets for each place that they pass there. */
import { existsSync } from 'node:fs';
import { statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { CommandError } from '../../datapath/exec/errors.ts';
import type { CommandRunner } from '../../datapath/exec/types.ts';
import { budgetOf, countWithin } from '../capture/budget.ts';
import { type Capture, capture } from '../capture/capture.ts';
import { type Hops, hopsOf } from '../capture/hops.ts';
import { type CaptureOutput, deliver, openFolder } from '../capture/output.ts';
import { captureText } from '../capture/tables.ts';
import { compileCommand } from '../capture/tcpdump.ts';
import { CliError } from '../errors.ts';
import { datapathsOf, type Transact } from '../flows/datapaths.ts';
import type { AgentClient } from '../node/agent-client.ts';

export interface CaptureSources {
  readonly agent: Pick<AgentClient, 'networks' | 'node' | 'pods'>;
  readonly northbound: Transact;
  readonly southbound: Transact;
  readonly runner: Pick<CommandRunner, 'lines' | 'run'>;
  readonly clock: Clock;
}

export interface CaptureRequest {
  readonly durationMs: number;
  /** Packets of each hop; undefined: the usual number, or what fits. */
  readonly count: number | undefined;
  /** `namespace/name` */
  readonly pod: string;
  readonly filter: string;
  readonly output: CaptureOutput;
  /** Its folder is written to where no other can be. */
  readonly agentSocket: string;
}

export interface CaptureWords {
  /** Ends the capture; what came until then stays. */
  readonly signal: AbortSignal;
  readonly stdout: (bytes: Uint8Array) => void;
  /** Progress, for people. */
  readonly tell: (text: string) => void;
}

/** In the folder, beside the packets: what they are, for programs. */
export const INDEX = 'index.json';

/** @throws CliError */
export const capturePod = async (
  sources: CaptureSources,
  request: CaptureRequest,
  { signal, stdout, tell }: CaptureWords,
): Promise<Capture> => {
  const { pod, filter, output } = request;
  await checkTcpdump(sources.runner, filter);
  const { captured: hops, missed } = await hopsOfPod(sources, pod, filter);
  await using folder = await openFolder(output, dirname(request.agentSocket));
  const budget = budgetOf(await statfs(folder.path), output.kind === 'stream');
  const limits = { durationMs: request.durationMs, count: countWithin(request.count, hops.length, budget) };
  const onListening = (count: number): void =>
    tell(
      `capturing at ${count} hops for up to ${request.durationMs / 1_000} s, Ctrl-C ends it (process ${process.pid})\n`,
    );
  const edges = { ...sources, folder: folder.path, signal, onListening };
  const result = await capture(hops, limits, edges);
  const all = { captured: result.captured, missed: [...missed, ...result.missed] };
  await writeFile(join(folder.path, INDEX), `${JSON.stringify({ pod, ...all }, undefined, 2)}\n`, { mode: 0o600 });
  const where = await deliver(output, folder.path, stdout);
  // Whoever gets the archive has the table from the index in it.
  if (output.kind !== 'stream') stdout(Buffer.from(captureText(all, where)));
  return all;
};

/** @throws CliError without tcpdump, or for an expression that it does not know */
const checkTcpdump = async (runner: CaptureSources['runner'], filter: string): Promise<void> => {
  try {
    await runner.run(compileCommand(filter));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (error.code === 'ERR_EXEC_NOT_FOUND') throw new CliError(NO_TCPDUMP);
    const message = /^tcpdump: (.*)$/m.exec(error.stderr)?.[1] ?? error.message;
    throw new CliError(`--filter: ${message} (see pcap-filter(7))`, 2);
  }
};

const NO_TCPDUMP =
  "tcpdump is not installed on this node: install the package tcpdump, or use --node: the agent's image contains it";

const hopsOfPod = async (sources: CaptureSources, key: string, filter: string): Promise<Hops> => {
  const [node, networks, pods] = await Promise.all([
    sources.agent.node(),
    sources.agent.networks(),
    sources.agent.pods(),
  ]);
  const pod = pods.find(({ namespace, name }) => `${namespace}/${name}` === key);
  if (pod === undefined) throw new CliError(`pod ${key} is not on node ${node.name}: udnctl pods lists those that are`);
  const tunnelKeys = await tunnelKeysOf(sources, [...new Set(pod.attachments.map(({ network }) => network))]);
  const hasInterface = (name: string): boolean => existsSync(join('/sys/class/net', name));
  return hopsOf({ pod, networks, node, tunnelKeys, hasInterface, filter });
};

/** Undefined: OVN does not answer, and packets are captured all the same. */
const tunnelKeysOf = async (
  { northbound, southbound }: Pick<CaptureSources, 'northbound' | 'southbound'>,
  networks: readonly string[],
): Promise<readonly number[] | undefined> => {
  try {
    const found = await Promise.all(networks.map((network) => datapathsOf(network, northbound, southbound)));
    // Routers are on every node: only switches are crossed by tunnels.
    return found.flat().flatMap(({ kind, key }) => (kind === 'switch' ? [key] : []));
  } catch {
    return undefined;
  }
};
