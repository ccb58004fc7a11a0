/** IP headers as no stack would send them: fragments, options, extension headers. */
import { type Ip, ipFamily } from '../../../../net/ip.ts';
import { checksum, type Ethernet, frame, ipBytes, word } from '../../../e2e/support/packets/frames.ts';

export interface IpIntent {
  readonly ethernet: Ethernet;
  readonly src: Ip;
  readonly dst: Ip;
  readonly protocol: number;
  readonly hopLimit?: number;
  readonly fragment?: Fragment | undefined;
  /** IPv4: router alert (RFC 2113). IPv6: hop-by-hop options (RFC 8200 §4.3), with padding in them. */
  readonly hasOptions?: boolean;
}

export interface Fragment {
  readonly id: number;
  /** In units of eight bytes. */
  readonly offset: number;
  readonly hasMore: boolean;
}

const ROUTER_ALERT = [0x94, 0x04, 0, 0];
const FRAGMENT_HEADER = 44;
const HOP_BY_HOP = 0;

export const ipFrame = (intent: IpIntent, body: Buffer): Buffer =>
  frame(intent.ethernet, ipFamily(intent.dst) === 4 ? 0x0800 : 0x86dd, ipPacket(intent, body));

/** Without the Ethernet header. */
export const ipPacket = (intent: IpIntent, body: Buffer): Buffer =>
  ipFamily(intent.dst) === 4 ? ipv4(intent, body) : ipv6(intent, body);

const ipv4 = ({ src, dst, protocol, hopLimit = 64, fragment, hasOptions = false }: IpIntent, body: Buffer): Buffer => {
  const options = hasOptions ? ROUTER_ALERT : [];
  const length = 20 + options.length;
  const { id = 0, offset = 0, hasMore = false } = fragment ?? {};
  const header = Buffer.from([
    ...[0x40 | (length / 4), 0, ...word(length + body.length), ...word(id), ...word((hasMore ? 0x2000 : 0) | offset)],
    ...[hopLimit, protocol, 0, 0, ...ipBytes(src), ...ipBytes(dst), ...options],
  ]);
  header.writeUInt16BE(checksum(header), 10);
  return Buffer.concat([header, body]);
};

const ipv6 = ({ src, dst, protocol, hopLimit = 64, fragment, hasOptions = false }: IpIntent, body: Buffer): Buffer => {
  const next = fragment === undefined ? protocol : FRAGMENT_HEADER;
  const headers = [
    ...(hasOptions ? [next, 0, 1, 4, 0, 0, 0, 0] : []),
    ...(fragment === undefined ? [] : fragmentHeader(protocol, fragment)),
  ];
  const first = hasOptions ? HOP_BY_HOP : next;
  const fixed = [0x60, 0, 0, 0, ...word(headers.length + body.length), first, hopLimit];
  return Buffer.concat([Buffer.from(fixed), ipBytes(src), ipBytes(dst), Buffer.from(headers), body]);
};

/** RFC 8200 §4.5. */
const fragmentHeader = (protocol: number, { id, offset, hasMore }: Fragment): readonly number[] => [
  ...[protocol, 0, ...word((offset << 3) | (hasMore ? 1 : 0))],
  ...[0, 0, ...word(id)],
];
