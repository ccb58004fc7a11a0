/** Tunnels as they are on the wire, and frames that claim to come out of one. */
import { randomBytes } from 'node:crypto';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { ipFrame } from '../../../oracles/hostile/frames/ip.ts';
import { udpBody } from '../../../oracles/hostile/frames/transport.ts';
import { GENEVE_PORT, genevePayload } from '../../../oracles/hostile/frames/tunnels.ts';
import { readTunnelKeys } from '../../../oracles/hostile/read-tunnel-keys.ts';
import type { KnownTunnelKey } from '../../../oracles/hostile/world.ts';
import type { ReachabilityPod } from '../../../oracles/reachability/types.ts';
import { type CapturedFrame, capture, type FrameToSend, type Place, runAt, sendFrames } from '../packets/capture.ts';
import { addressesOf } from '../packets/packets.ts';
import { nodeAddress } from './north-south.ts';

/** Where pods are attacked, and in whose name. */
export const [PEER, NODE] = ['node-1', 'node-2'] as const;
const [UPLINK, BRIDGE, POD_LINK] = ['eth0', 'br-ex', 'ovn-udn1'] as const;

const [UDP, ESP] = [17, 50] as const;

/** What nodes send each other: protocol, and the port that it is for. */
interface Sent {
  readonly protocol: number;
  readonly port: number;
  readonly isOutgoing: boolean;
}

/** On a node's uplink, from and to the other node. */
export const betweenNodes = (frames: readonly CapturedFrame[]): readonly Sent[] =>
  frames
    .filter(({ device, bytes }) => device === UPLINK && bytes.readUInt16BE(12) === 0x0800)
    .map(({ bytes, isOutgoing }) => ({ protocol: bytes[23] ?? 0, port: bytes.readUInt16BE(36), isOutgoing }));

export const isEsp = ({ protocol }: Sent): boolean => protocol === ESP;
export const isClear = ({ protocol, port }: Sent): boolean => protocol === UDP && port === GENEVE_PORT;

export const isClearSent = (sent: Sent): boolean => sent.isOutgoing && isClear(sent);

export interface Forger {
  readonly place: Place;
  readonly device: string;
}

/** By packet sockets, past the sender's own filters and policies. */
export const FORGERS: readonly Forger[] = [
  { place: 'outside', device: UPLINK },
  { place: PEER, device: UPLINK },
];

export interface Victim {
  readonly pod: ReachabilityPod;
  /** Who the frame inside claims to be from. */
  readonly friend: ReachabilityPod;
}

interface Target extends Victim {
  readonly mac: string;
  readonly key: KnownTunnelKey;
  /** Of the node that it is on. */
  readonly nodeMac: string;
}

const macAt = async (sandbox: Sandbox, place: Place, device: string): Promise<string> =>
  (await runAt(sandbox, place, ['cat', `/sys/class/net/${device}/address`])).stdout.trim();

/** @throws Error when OVN does not know one */
const readTargets = async (sandbox: Sandbox, victims: readonly Victim[]): Promise<readonly Target[]> => {
  const [keys, nodeMac] = await Promise.all([readTunnelKeys(sandbox, NODE), macAt(sandbox, NODE, BRIDGE)]);
  return await Promise.all(
    victims.map(async ({ pod, friend }) => {
      const key = keys.find((one) => one.pod === pod.key && !one.isLocked);
      if (key === undefined) throw new Error(`${pod.key} has no tunnel key`);
      return { pod, friend, key, nodeMac, mac: await macAt(sandbox, pod.key, POD_LINK) };
    }),
  );
};

/** @throws Error when it has none */
export const ofFamily = (pod: ReachabilityPod, family: Family): Ip => {
  const found = addressesOf(pod).find((ip) => ipFamily(ip) === family);
  if (found === undefined) throw new Error(`${pod.key} has no IPv${family} address`);
  return found;
};

/** Geneve of the other node for a pod of this one, one for each family of what is inside. */
const forged = ({ pod, friend, key, mac, nodeMac }: Target, marker: string): readonly Buffer[] =>
  FAMILIES.map((family) => {
    const [src, dst] = [ofFamily(friend, family), ofFamily(pod, family)];
    const ethernet = { from: '02:00:00:00:00:77', to: mac };
    const inner = ipFrame(
      { ethernet, src, dst, protocol: UDP },
      udpBody({ src, dst, port: 8081 }, Buffer.from(marker)),
    );
    const outer = { src: nodeAddress(PEER, 4), dst: nodeAddress(NODE, 4) };
    const body = udpBody({ ...outer, port: GENEVE_PORT }, genevePayload({ ...key, ingress: key.egress + 1 }, inner));
    return ipFrame({ ethernet: { from: ethernet.from, to: nodeMac }, ...outer, protocol: UDP }, body);
  });

/** Sends as each of them until all have come to the node. @returns which came to their pod: `outside → red/c IPv4` */
export const forge = async (
  sandbox: Sandbox,
  victims: readonly Victim[],
  forgers: readonly Forger[] = FORGERS,
): Promise<readonly string[]> => {
  const targets = await readTargets(sandbox, victims);
  const shots = forgers.flatMap(({ place, device }) =>
    targets.flatMap((target) => {
      const marker = `<${randomBytes(4).toString('hex')}>`;
      return forged(target, marker).map((frame, index) => ({
        ...{ place, device, frame, marker, to: target.pod.key },
        name: `${place} → ${target.pod.key} IPv${FAMILIES[index]}`,
        family: FAMILIES[index],
      }));
    }),
  );
  const places = [NODE, ...targets.map(({ pod }) => pod.key)];
  const shoot = () =>
    Promise.all(
      [...Map.groupBy(shots, ({ place }) => place)].map(([place, own]) =>
        sendFrames(sandbox, place, own satisfies readonly FrameToSend[]),
      ),
    );
  const isAt = (shot: (typeof shots)[number], where: (frame: CapturedFrame) => boolean) => (frame: CapturedFrame) =>
    where(frame) && !frame.isOutgoing && frame.bytes.includes(shot.marker) && familyInside(frame.bytes) === shot.family;
  const frames = await capture(
    sandbox,
    places,
    shoot,
    (seen) => shots.every((shot) => seen.some(isAt(shot, ({ place, device }) => place === NODE && device === UPLINK))),
    shoot,
  );
  return shots
    .filter((shot) => frames.some(isAt(shot, ({ place }) => place === shot.to)))
    .map(({ name }) => name)
    .sort();
};

/** Of the innermost packet: of Geneve, behind 50 bytes and OVN's option of 8. */
const familyInside = (bytes: Buffer): Family => {
  const isGeneve = bytes.readUInt16BE(12) === 0x0800 && bytes[23] === UDP && bytes.readUInt16BE(36) === GENEVE_PORT;
  return bytes.readUInt16BE(isGeneve ? 14 + 20 + 8 + 16 + 12 : 12) === 0x86dd ? 6 : 4;
};
