/** The packet that is traced, as Open vSwitch reads flows (ovs-fields(7)). */
import type { Family, Ip } from '../../net/ip.ts';
import { ipFamily } from '../../net/ip.ts';
import type { Mac } from '../../net/mac.ts';

export const PROTOCOLS = ['tcp', 'udp', 'sctp', 'icmp'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export interface Packet {
  readonly bridge: string;
  /** Number of the port, or `LOCAL`. */
  readonly inPort: string;
  readonly sourceMac: Mac;
  readonly destinationMac: Mac;
  readonly source: Ip;
  readonly destination: Ip;
  readonly protocol: Protocol;
  /** Of the destination; not for icmp, which is an echo request. */
  readonly port: number;
  /** Of what the host's nftables have marked: the gateway bridge looks at it. */
  readonly mark?: number;
}

/** As good as any port that no service has. */
export const SOURCE_PORT = 40_000;

export const flowText = (packet: Packet): string => {
  const family = ipFamily(packet.destination);
  const [source, destination] = family === 4 ? ['nw_src', 'nw_dst'] : ['ipv6_src', 'ipv6_dst'];
  return [
    `in_port=${packet.inPort}`,
    family === 4 ? packet.protocol : `${packet.protocol}6`,
    `dl_src=${packet.sourceMac}`,
    `dl_dst=${packet.destinationMac}`,
    `${source}=${packet.source}`,
    `${destination}=${packet.destination}`,
    'nw_ttl=64',
    ...upperFields(packet, family),
    ...(packet.mark ? [`pkt_mark=0x${packet.mark.toString(16)}`] : []),
  ].join(',');
};

const upperFields = ({ protocol, port }: Packet, family: Family): string[] => {
  if (protocol !== 'icmp') return [`${protocol}_src=${SOURCE_PORT}`, `${protocol}_dst=${port}`];
  return family === 4 ? ['icmp_type=8', 'icmp_code=0'] : ['icmpv6_type=128', 'icmpv6_code=0'];
};
