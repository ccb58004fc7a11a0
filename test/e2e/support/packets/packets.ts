/** Single packets from pod to pod: whether they arrived is asked of the receiver. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { PROTOCOLS, type Protocol, type ReachabilityPod } from '../../../oracles/reachability/types.ts';

export interface Packet {
  readonly from: string;
  /** Who is asked whether it came. */
  readonly to: string;
  readonly address: Ip;
  readonly protocol: Protocol;
  /** Of the sender. Default: as its routes say. */
  readonly device?: string | undefined;
}

export interface Outcome {
  readonly arrived: boolean;
  readonly answered: boolean;
}

const TIMEOUT_MS = 300;
const TRIES = 3;

/** In the order of the packets; all are sent at once. */
export const send = async (sandbox: Pick<Sandbox, 'exec'>, packets: readonly Packet[]): Promise<Outcome[]> => {
  const run = randomBytes(4).toString('hex');
  const probes = packets.map((packet, index) => ({ ...packet, nonce: `${run}.${index}` }));
  const answers = await Promise.all(
    [...Map.groupBy(probes, ({ from }) => from)].map(async ([from, own]) => {
      const lines = own.map(
        ({ nonce, address, protocol, device = '-' }) =>
          `${nonce} ${ipFamily(address)} ${protocol} ${address} ${device} ${nonce}`,
      );
      const command = ['toolbox', 'probe', '--timeout', String(TIMEOUT_MS), '--tries', String(TRIES)];
      return z.array(answerSchema).parse(await jsonLines(sandbox, from, command, lines));
    }),
  );
  const answered = new Set(answers.flat().flatMap((answer) => (answer.answered ? [answer.nonce] : [])));
  const seen = await Promise.all(
    [...Map.groupBy(probes, ({ to }) => to)].map(async ([to, meant]) => {
      const nonces = meant.map(({ nonce }) => nonce);
      return z.array(seenSchema).parse(await jsonLines(sandbox, to, ['toolbox', 'seen'], nonces));
    }),
  );
  const arrived = new Set(seen.flat().flatMap((one) => (one.seen ? [one.nonce] : [])));
  return probes.map(({ nonce }) => ({ arrived: arrived.has(nonce), answered: answered.has(nonce) }));
};

const answerSchema = z.object({ nonce: z.string(), answered: z.boolean() });
const seenSchema = z.object({ nonce: z.string(), seen: z.boolean() });

const jsonLines = async (
  sandbox: Pick<Sandbox, 'exec'>,
  pod: string,
  argv: readonly string[],
  lines: readonly string[],
): Promise<unknown[]> => {
  const { stdout } = await sandbox.exec(pod, argv, { input: `${lines.join('\n')}\n` });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
};

/** Every protocol, to every address of the receiver that has the role. */
export const packetsTo = (
  from: ReachabilityPod,
  to: ReachabilityPod,
  role: 'primary' | 'infrastructure-locked' = 'primary',
  device?: string,
): Packet[] =>
  addressesOf(to, role).flatMap((address) =>
    PROTOCOLS.map((protocol) => ({ from: from.key, to: to.key, address, protocol, device })),
  );

/** What became of the packets, a line each, for comparing: `red/a → red/b udp 10.0.0.3`. */
export const arrivals = async (sandbox: Pick<Sandbox, 'exec'>, packets: readonly Packet[]): Promise<string[]> => {
  const outcomes = await send(sandbox, packets);
  return packets.filter((_, index) => outcomes[index]?.arrived === true).map(describePacket);
};

export const describePacket = ({ from, to, address, protocol }: Packet): string =>
  `${from} → ${to} ${protocol} ${address}`;

export const addressesOf = (
  pod: ReachabilityPod,
  role: 'primary' | 'infrastructure-locked' = 'primary',
): readonly Ip[] => pod.attachments.find((attachment) => attachment.role === role)?.addresses ?? [];

/** @throws Error when it has none */
export const addressOfFamily = (pod: ReachabilityPod, family: Family): Ip => {
  const address = addressesOf(pod).find((one) => ipFamily(one) === family);
  if (address === undefined) throw new Error(`${pod.key} has no IPv${family} address`);
  return address;
};
