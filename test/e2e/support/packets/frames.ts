/** Ethernet frames byte by byte, so that a test can say what no program would: who it claims to be, and to whom. */
import { type Ip, ipFamily, ipToBytes } from '../../../../net/ip.ts';

export interface Ethernet {
  readonly from: string;
  readonly to: string;
}

export const BROADCAST = 'ff:ff:ff:ff:ff:ff';

/** RFC 2464 §7. */
export const multicastMac = (group: Ip): string =>
  ['33:33', ...[...ipBytes(group).subarray(12)].map((byte) => byte.toString(16).padStart(2, '0'))].join(':');

/** RFC 826. `tell`: who sends it, as it says itself. */
export const arp = (
  ethernet: Ethernet,
  { op, tell, tellMac = ethernet.from, about, aboutMac = '00:00:00:00:00:00' }: Arp,
): Buffer => {
  const fixed = Buffer.from([0, 1, 8, 0, 6, 4, 0, op === 'request' ? 1 : 2]);
  return frame(ethernet, 0x0806, fixed, macBytes(tellMac), ipBytes(tell), macBytes(aboutMac), ipBytes(about));
};

interface Arp {
  readonly op: 'request' | 'reply';
  readonly tell: Ip;
  readonly tellMac?: string;
  readonly about: Ip;
  readonly aboutMac?: string;
}

export interface Datagram {
  readonly src: Ip;
  readonly dst: Ip;
  readonly srcPort?: number;
  readonly dstPort?: number;
  readonly payload: string;
}

export const udp = (ethernet: Ethernet, { src, dst, srcPort = 4444, dstPort = 8081, payload }: Datagram): Buffer => {
  const body = Buffer.from(payload);
  const header = Buffer.from([...word(srcPort), ...word(dstPort), ...word(8 + body.length), 0, 0]);
  return packet(ethernet, { src, dst, protocol: 17, hopLimit: 64 }, withChecksum(src, dst, 17, [header, body], 6));
};

/** One of two fragments of a datagram of IPv4, without a checksum: the first has the ports. */
export const udpFragment = (
  ethernet: Ethernet,
  { src, dst, srcPort = 4444, dstPort = 8081, payload }: Datagram,
  { id, index }: { readonly id: number; readonly index: 0 | 1 },
): Buffer => {
  // OVS's userspace conntrack takes no smaller ones: `ipf-set-min-frag`, ovs-vswitchd(8).
  const body = Buffer.alloc(1304, '.');
  body.write(payload);
  const ports = Buffer.from([...word(srcPort), ...word(dstPort), ...word(8 + 2 * body.length), 0, 0]);
  const [part, field] = index === 0 ? [Buffer.concat([ports, body]), MORE_FRAGMENTS] : [body, (8 + body.length) / 8];
  return packet(ethernet, { src, dst, protocol: 17, hopLimit: 64, id, fragment: field }, part);
};

/** RFC 791 §3.1. */
const MORE_FRAGMENTS = 0x2000;

/** Of a protocol without ports. */
export const ipPacket = (
  ethernet: Ethernet,
  {
    src,
    dst,
    protocol,
    body,
  }: { readonly src: Ip; readonly dst: Ip; readonly protocol: number; readonly body: Buffer },
): Buffer => packet(ethernet, { src, dst, protocol, hopLimit: 64 }, body);

/** RFC 792; RFC 4443 §4.1. */
export const echoRequest = (
  ethernet: Ethernet,
  { src, dst, id, payload }: { readonly src: Ip; readonly dst: Ip; readonly id: number; readonly payload: string },
): Buffer => {
  const fields = (type: number): Buffer => Buffer.from([type, 0, 0, 0, ...word(id), ...word(1)]);
  if (ipFamily(src) === 6) return icmp6(ethernet, src, dst, [...fields(128), ...Buffer.from(payload)]);
  const body = Buffer.concat([fields(8), Buffer.from(payload)]);
  body.writeUInt16BE(checksum(body), 2);
  return ipPacket(ethernet, { src, dst, protocol: 1, body });
};

/** RFC 4861 §4.4. With the flags override, and solicited unless it goes to everybody. */
export const neighbourAdvertisement = (ethernet: Ethernet, src: Ip, dst: Ip, target: Ip): Buffer => {
  const flags = dst === ALL_NODES ? 0x20 : 0x60;
  const option = [2, 1, ...macBytes(ethernet.from)];
  return icmp6(ethernet, src, dst, [136, 0, 0, 0, flags, 0, 0, 0, ...ipBytes(target), ...option]);
};

/** RFC 4861 §4.2: a router for half an hour, with a prefix (RFC 4862 §5.5.3) to make addresses of. */
export const routerAdvertisement = (ethernet: Ethernet, src: Ip, prefix: Ip): Buffer => {
  const router = [134, 0, 0, 0, 64, 0, ...word(1800), 0, 0, 0, 0, 0, 0, 0, 0];
  const lifetime = [0, 0, 0x0e, 0x10];
  const prefixOption = [3, 4, 64, 0xc0, ...lifetime, ...lifetime, 0, 0, 0, 0, ...ipBytes(prefix)];
  return icmp6(ethernet, src, ALL_NODES, [...router, 1, 1, ...macBytes(ethernet.from), ...prefixOption]);
};

/** RFC 4861 §4.3: who has the address. */
export const neighbourSolicitation = (ethernet: Ethernet, src: Ip, dst: Ip, target: Ip): Buffer =>
  icmp6(ethernet, src, dst, [135, 0, 0, 0, 0, 0, 0, 0, ...ipBytes(target), 1, 1, ...macBytes(ethernet.from)]);

/** RFC 4861 §4.1: are there routers. */
export const routerSolicitation = (ethernet: Ethernet, src: Ip, dst: Ip): Buffer =>
  icmp6(ethernet, src, dst, [133, 0, 0, 0, 0, 0, 0, 0, 1, 1, ...macBytes(ethernet.from)]);

/** RFC 2710 §3: somebody listens to the group. Type 130 asks, 131 says so, 132 no longer. */
export const multicastListener = (ethernet: Ethernet, src: Ip, group: Ip, type: 130 | 131 | 132): Buffer =>
  icmp6(ethernet, src, group, [type, 0, 0, 0, 0, 0, 0, 0, ...ipBytes(group)], { hopLimit: 1 });

/** RFC 3810 §5.2: somebody listens to the group, with a record of how. */
export const multicastListener2 = (ethernet: Ethernet, src: Ip, group: Ip): Buffer =>
  icmp6(ethernet, src, MLD_ROUTERS, [143, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, ...ipBytes(group)], { hopLimit: 1 });

export const MLD_ROUTERS = 'ff02::16' as Ip;

/** The ICMPv6 message of a packet without extension headers, behind one: hop-by-hop, destination options, or a whole fragment. */
export const behind = (packet: Buffer, header: 0 | 60 | 44): Buffer => {
  const bytes = Buffer.from(packet);
  const extension = header === 44 ? [58, 0, 0, 0, 0, 0, 0, 1] : [58, 0, 1, 4, 0, 0, 0, 0];
  bytes.writeUInt16BE(bytes.readUInt16BE(18) + extension.length, 18);
  bytes[20] = header;
  return Buffer.concat([bytes.subarray(0, 54), Buffer.from(extension), bytes.subarray(54)]);
};

/** Of any protocol, also one that nobody knows. */
export const ofType = (ethernet: Ethernet, type: number): Buffer => frame(ethernet, type, Buffer.alloc(46));

/** IEEE 802.1Q: the frame in VLAN 1. */
export const tagged = (untagged: Buffer): Buffer =>
  Buffer.concat([untagged.subarray(0, 12), Buffer.from([0x81, 0, 0, 1]), untagged.subarray(12)]);

export const ALL_NODES = 'ff02::1' as Ip;

export const icmp6 = (
  ethernet: Ethernet,
  src: Ip,
  dst: Ip,
  message: readonly number[],
  { hopLimit = 255 } = {},
): Buffer =>
  packet(ethernet, { src, dst, protocol: 58, hopLimit }, withChecksum(src, dst, 58, [Buffer.from(message)], 2));

export interface IpHeader {
  readonly src: Ip;
  readonly dst: Ip;
  readonly protocol: number;
  readonly hopLimit: number;
  readonly id?: number;
  /** Flags and offset, of IPv4. */
  readonly fragment?: number;
}

export const packet = (
  ethernet: Ethernet,
  { src, dst, protocol, hopLimit, id = 0, fragment = 0 }: IpHeader,
  body: Buffer,
): Buffer => {
  if (ipFamily(src) === 6) {
    const header = Buffer.from([0x60, 0, 0, 0, ...word(body.length), protocol, hopLimit]);
    return frame(ethernet, 0x86dd, header, ipBytes(src), ipBytes(dst), body);
  }
  const length = word(20 + body.length);
  const own = [...word(id), ...word(fragment), hopLimit, protocol];
  const header = [0x45, 0, ...length, ...own, 0, 0, ...ipBytes(src), ...ipBytes(dst)];
  const sum = word(checksum(Buffer.from(header)));
  return frame(ethernet, 0x0800, Buffer.from([...header.slice(0, 10), ...sum, ...header.slice(12)]), body);
};

export const frame = ({ from, to }: Ethernet, type: number, ...parts: readonly Buffer[]): Buffer =>
  Buffer.concat([macBytes(to), macBytes(from), Buffer.from(word(type)), ...parts]);

/** With the pseudo-header (RFC 768; RFC 8200 §8.1), written at the offset, where there are zeros. */
export const withChecksum = (src: Ip, dst: Ip, protocol: number, parts: readonly Buffer[], offset: number): Buffer => {
  const body = Buffer.concat(parts);
  const length = Buffer.from([...word(body.length), ...word(protocol)]);
  body.writeUInt16BE(checksum(Buffer.concat([ipBytes(src), ipBytes(dst), length, body])) || 0xffff, offset);
  return body;
};

/** RFC 1071. */
export const checksum = (bytes: Buffer): number => {
  let sum = 0;
  for (let index = 0; index < bytes.length; index += 2) {
    sum += ((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
};

export const word = (value: number): readonly number[] => [value >> 8, value & 0xff];

export const macBytes = (mac: string): Buffer => Buffer.from(mac.replaceAll(':', ''), 'hex');

export const ipBytes = (ip: Ip): Buffer => Buffer.from(ipToBytes(ip));
