/** Messages about the network itself: ICMP, group membership, neighbours and routers, each with room for a marker. */
import { type Ip, ipFamily } from '../../../../net/ip.ts';
import { checksum, ipBytes, macBytes, withChecksum, word } from '../../../e2e/support/packets/frames.ts';
import { ipPacket } from './ip.ts';
import { udpBody } from './transport.ts';

const IDENTIFIER = 0x4d4d;

export const echoBody = (src: Ip, dst: Ip, payload: Buffer): Buffer =>
  icmpBody(src, dst, [ipFamily(dst) === 4 ? 8 : 128, 0], Buffer.from([...word(IDENTIFIER), 0, 1]), payload);

/** "Port unreachable" about a datagram of the receiver to somebody else. */
export const errorBody = (src: Ip, dst: Ip, about: Ip, payload: Buffer): Buffer => {
  const ethernet = { from: '00:00:00:00:00:00', to: '00:00:00:00:00:00' };
  const datagram = udpBody({ src: dst, dst: about, port: 53 }, payload);
  const quoted = ipPacket({ ethernet, src: dst, dst: about, protocol: 17 }, datagram);
  return icmpBody(src, dst, ipFamily(dst) === 4 ? [3, 3] : [1, 4], Buffer.alloc(4), quoted);
};

const icmpBody = (src: Ip, dst: Ip, [type, code]: readonly [number, number], rest: Buffer, payload: Buffer): Buffer => {
  const head = Buffer.from([type, code, 0, 0]);
  if (ipFamily(dst) === 6) return withChecksum(src, dst, 58, [head, rest, payload], 2);
  const body = Buffer.concat([head, rest, payload]);
  body.writeUInt16BE(checksum(body), 2);
  return body;
};

/** RFC 3376 §4.2, a report about no group with auxiliary data. */
export const igmpBody = (payload: Buffer): Buffer => {
  const aux = Buffer.concat([payload, Buffer.alloc((4 - (payload.length % 4)) % 4)]);
  const record = [4, aux.length / 4, 0, 0, 239, 1, 2, 3];
  const body = Buffer.from([0x22, 0, 0, 0, 0, 0, 0, 1, ...record, ...aux]);
  body.writeUInt16BE(checksum(body), 2);
  return body;
};

/** RFC 3810 §5.2, the same for IPv6. */
export const mldBody = (src: Ip, dst: Ip, payload: Buffer): Buffer => {
  const aux = Buffer.concat([payload, Buffer.alloc((4 - (payload.length % 4)) % 4)]);
  const group = [0xff, 0x05, ...Array.from({ length: 13 }, () => 0), 0x77];
  const record = Buffer.from([4, aux.length / 4, 0, 0, ...group, ...aux]);
  return withChecksum(src, dst, 58, [Buffer.from([143, 0, 0, 0, 0, 0, 0, 1]), record], 2);
};

export type NeighbourKind = 'solicitation' | 'advertisement' | 'router solicitation' | 'router advertisement';

/** RFC 4861 §4.1 to §4.4, with an option of a type for experiments (RFC 4727 §5.1.1) that nobody reads. */
export const neighbourBody = (
  kind: NeighbourKind,
  { src, dst, target, mac }: { readonly src: Ip; readonly dst: Ip; readonly target: Ip; readonly mac: string },
  payload: Buffer,
): Buffer => {
  const own = Buffer.from([kind === 'advertisement' ? 2 : 1, 1, ...macBytes(mac)]);
  const option = src === '::' ? [] : [own];
  const padded = Buffer.concat([payload, Buffer.alloc((8 - ((payload.length + 2) % 8)) % 8)]);
  const experiment = Buffer.from([253, (padded.length + 2) / 8, ...padded]);
  return withChecksum(src, dst, 58, [NEIGHBOUR_HEADS[kind](target), ...option, experiment], 2);
};

const NEIGHBOUR_HEADS: Readonly<Record<NeighbourKind, (target: Ip) => Buffer>> = {
  solicitation: (target) => Buffer.from([135, 0, 0, 0, 0, 0, 0, 0, ...ipBytes(target)]),
  advertisement: (target) => Buffer.from([136, 0, 0, 0, 0x20, 0, 0, 0, ...ipBytes(target)]),
  'router solicitation': () => Buffer.from([133, 0, 0, 0, 0, 0, 0, 0]),
  'router advertisement': () => Buffer.from([134, 0, 0, 0, 64, 0, ...word(1800), 0, 0, 0, 0, 0, 0, 0, 0]),
};
