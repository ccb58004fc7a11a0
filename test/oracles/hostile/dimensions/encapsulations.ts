/** A frame for a pod of the other node, inside a packet for the node itself. */
import type { Family, Ip } from '../../../../net/ip.ts';
import { BROADCAST } from '../../../e2e/support/packets/frames.ts';
import { ipFrame } from '../frames/ip.ts';
import { greBody, udpBody } from '../frames/transport.ts';
import { GENEVE_PORT, genevePayload, VXLAN_PORT, vxlanPayload } from '../frames/tunnels.ts';
import { footholdOf, type KnownTunnelKey, type World } from '../world.ts';
import type { Intent } from './protocols.ts';

export const ENCAPSULATIONS = [
  'none',
  'geneve',
  'geneve to everybody',
  'geneve in fragments',
  'vxlan',
  'ip in ip',
  'gre',
] as const;
export type Encapsulation = (typeof ENCAPSULATIONS)[number];

/** Of UDP, which sockets can send. */
export const isDatagram = (encapsulation: Encapsulation): boolean =>
  ['geneve', 'geneve to everybody', 'vxlan'].includes(encapsulation);

/** Its first number of a group of ports, which floods: ovn-architecture(7), "Tunnel Encapsulations". */
const FLOOD = 32_768;
/** In units of eight bytes: the Geneve header and a part of what is inside. */
const FIRST_FRAGMENT = 6;

/** What the outer packet has after its UDP header. */
export const tunnelPayload = (world: World, { encapsulation, key, family, marker }: Tunnelled): Buffer => {
  const inner = innerFrame(world, key, family, marker, encapsulation === 'geneve to everybody');
  if (encapsulation === 'vxlan') return vxlanPayload(key.vni & 0xfff, inner);
  return genevePayload({ ...key, ...(encapsulation === 'geneve to everybody' && { egress: FLOOD }) }, inner);
};

export const tunnelPort = (encapsulation: Encapsulation): number =>
  encapsulation === 'vxlan' ? VXLAN_PORT : GENEVE_PORT;

export interface Tunnelled {
  readonly encapsulation: Exclude<Encapsulation, 'none'>;
  readonly key: KnownTunnelKey;
  /** Of what is inside. */
  readonly family: Family;
  readonly marker: Buffer;
}

/** More than one when the packet is in fragments. */
export const tunnelFrames = (world: World, tunnelled: Tunnelled, outer: Intent): readonly Buffer[] => {
  const { encapsulation, key, family, marker } = tunnelled;
  const ofProtocol = (protocol: number, body: Buffer): readonly Buffer[] => [ipFrame({ ...outer, protocol }, body)];
  const inner = innerFrame(world, key, family, marker);
  if (encapsulation === 'gre') return ofProtocol(47, greBody(inner));
  if (encapsulation === 'ip in ip') return ofProtocol(family === 4 ? 4 : 41, inner.subarray(14));
  const port = tunnelPort(encapsulation);
  const body = udpBody({ ...outer, port }, tunnelPayload(world, tunnelled));
  if (encapsulation !== 'geneve in fragments') return ofProtocol(17, body);
  const id = marker.readUInt16BE(marker.length - 3);
  const split = 8 * FIRST_FRAGMENT;
  const part = (offset: number, bytes: Buffer): Buffer =>
    ipFrame({ ...outer, protocol: 17, fragment: { id, offset, hasMore: offset === 0 } }, bytes);
  return [part(0, body.subarray(0, split)), part(FIRST_FRAGMENT, body.subarray(split))];
};

/** What the victim would get, as if its gateway sent it; locked interfaces listen to nobody but the kubelet. */
const innerFrame = (
  world: World,
  { pod, isLocked }: KnownTunnelKey,
  family: Family,
  marker: Buffer,
  toAll = false,
): Buffer => {
  const victim = footholdOf(world, pod);
  const at = isLocked && victim.locked !== undefined ? victim.locked : victim.primary;
  const far = world.farManagementPort;
  const sender = isLocked ? { mac: far.mac, of: far.addresses } : { mac: victim.gatewayMac, of: victim.gateways };
  const [src, dst]: readonly [Ip, Ip] = [sender.of[family], at.addresses[family]];
  const ethernet = { from: sender.mac, to: toAll ? BROADCAST : at.mac };
  const flow = { src, dst, port: 8081 };
  return Buffer.from(ipFrame({ ethernet, src, dst, protocol: 17 }, udpBody(flow, marker)));
};
