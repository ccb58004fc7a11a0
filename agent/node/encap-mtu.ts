/** Whether the packets of pods, with what a tunnel puts around them, fit the link they leave by. Pure. */
import { type Ip, ipFamily } from '../../net/ip.ts';
import { linkOfAddress } from './host-view.ts';
import type { HostSnapshot } from './uplink/types.ts';

/** Ethernet inside, Geneve with OVN's option, and UDP (RFC 8926). */
const TUNNEL_BYTES = 38;
const IP_BYTES = { 4: 20, 6: 40 } as const;

export interface EncapInputs {
  readonly encapIps: readonly Ip[];
  /** Of pods. */
  readonly mtu: number;
  /** Whether tunnels are. */
  readonly isEncrypted: boolean;
}

/** One message each, without an end. Small packets still pass, so nothing is refused because of it. */
export const encapProblems = ({ encapIps, mtu, isEncrypted }: EncapInputs, host: HostSnapshot): string[] =>
  encapIps.flatMap((ip) => {
    const link = linkOfAddress(host, ip);
    if (link === undefined) return [`tunnels are to end at ${ip}, which is no address of this node`];
    const sent = mtu + TUNNEL_BYTES;
    const needed = IP_BYTES[ipFamily(ip)] + (isEncrypted ? espBytes(sent) : sent);
    if (link.mtu >= needed) return [];
    return [
      `packets of pods (MTU ${mtu}) do not fit the ${isEncrypted ? 'encrypted tunnels' : 'tunnels'}: the MTU of ${link.name} is ${link.mtu}, and ${needed} is needed`,
    ];
  });

/**
 * Around a payload in transport mode, with AES-GCM as ovs-monitor-ipsec asks for it: a header of 8 bytes, 8 of the nonce, padding to four
 * bytes with two that say how much it is and what is inside, and 16 of the check value (RFC 4303 §2, RFC 4106 §3, §6).
 */
const espBytes = (payload: number): number => 8 + 8 + 4 * Math.ceil((payload + 2) / 4) + 16;
