/** Connects from pods of this node to addresses, in their network namespaces. */
import { z } from 'zod';
import type { PodStatus } from '../../../api/agent-status.ts';
import { parseJson, parseWith } from '../../../api/parse.ts';
import { messageOf } from '../../../base/error-message.ts';
import type { CommandRunner } from '../../../datapath/exec/types.ts';
import type { PodNetns } from '../../node/pod-netns.ts';

const resultSchema = z.object({
  address: z.string(),
  port: z.int(),
  /** `connected` or `refused`: it was reached, and its answer came back. */
  outcome: z.string(),
});

/** What one node answers. */
export const probedSchema = z.object({
  results: z.array(resultSchema.extend({ from: z.string() })),
  /** Pods that nothing could be sent from, and why. */
  unknown: z.array(z.string()),
});
export type Probed = z.output<typeof probedSchema>;

export interface ProbeTools {
  readonly pods: readonly PodStatus[];
  readonly netns: Pick<PodNetns, 'pathOf'>;
  readonly runner: Pick<CommandRunner, 'run'>;
}

export interface Targets {
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
  /** Only from pods that are attached to this one. Absent: from all, by their own. */
  readonly network?: string | undefined;
}

/** Pods at once: each is a process of its own. */
const AT_ONCE = 4;

/** From each pod of the namespace that is on this node. */
export const probeHere = async (tools: ProbeTools, namespace: string, targets: Targets): Promise<Probed> => {
  const found: Probed = { results: [], unknown: [] };
  const left = tools.pods.filter((pod) => pod.namespace === namespace && isFrom(pod, targets)).values();
  const work = async (): Promise<void> => {
    for (const pod of left) {
      const from = `${pod.namespace}/${pod.name}`;
      try {
        found.results.push(...(await probeFrom(tools, pod, targets)).map((result) => ({ from, ...result })));
      } catch (error) {
        found.unknown.push(`nothing could be sent from ${from}: ${messageOf(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
};

/** Any other would send what is not its network's by its default route. */
const isFrom = ({ attachments }: PodStatus, { network }: Targets): boolean =>
  network === undefined ? attachments.length > 0 : attachments.some((one) => one.network === network);

const probeFrom = async (
  { netns, runner }: ProbeTools,
  pod: PodStatus,
  { addresses, ports }: Targets,
): Promise<z.output<typeof resultSchema>[]> => {
  const path = netns.pathOf(pod);
  if (path === undefined) throw new Error('its network namespace was not found');
  const own = new Set(pod.attachments.flatMap((one) => one.addresses.map((address) => address.split('/')[0] ?? '')));
  const input = JSON.stringify(
    addresses.filter((address) => !own.has(address)).flatMap((address) => ports.map((port) => ({ address, port }))),
  );
  const args = [`--net=${path}`, '--', process.execPath, '--input-type=module', '--eval', CONNECT];
  const { stdout } = await runner.run({ file: 'nsenter', args, input, timeoutMs: TIMEOUT_MS });
  return parseWith(z.array(resultSchema), parseJson(stdout, 'what was connected'), 'what was connected');
};

/** A first packet that is lost is sent again after a second (RFC 6298). */
const CONNECT_MS = 1500;
const PARALLEL = 64;
/** All of it: 60 addresses and 4 ports are 4 rounds. */
const TIMEOUT_MS = 30_000;

/** A program of its own, in the network namespace of a pod: reads what it connects to, writes how that ended. */
const CONNECT = `
import net from 'node:net';
const input = [];
for await (const chunk of process.stdin) input.push(chunk);
const targets = JSON.parse(Buffer.concat(input));
const connect = ({ address, port }) => new Promise((resolve) => {
  const socket = net.connect({ host: address, port, timeout: ${CONNECT_MS} });
  const end = (outcome) => { resolve({ address, port, outcome }); socket.destroy(); };
  socket.once('connect', () => end('connected'));
  socket.once('timeout', () => end('timed out'));
  socket.on('error', ({ code }) => end(code === 'ECONNREFUSED' ? 'refused' : String(code)));
});
const results = [];
const left = targets.entries();
const work = async () => { for (const [index, target] of left) results[index] = await connect(target); };
await Promise.all(Array.from({ length: ${PARALLEL} }, work));
process.stdout.write(JSON.stringify(results));
`;
