/** Whether the packets of pods, with what a tunnel puts around them, fit the link they leave by. Pure. */
import { type Ip, ipFamily } from '../../net/ip.ts';
import type { HostSnapshot } from '../uplink/types.ts';
import { linkOfAddress } from './host-view.ts';

/** Ethernet inside, Geneve with OVN's option, UDP, and IP outside (RFC 8926). */
const TUNNEL_BYTES = { 4: 58, 6: 78 } as const;

export interface EncapInputs {
  readonly encapIps: readonly Ip[];
  /** Of pods. */
  readonly mtu: number;
}

/** A sentence each, without an end. Small packets still pass, so nothing is refused because of it. */
export const encapProblems = ({ encapIps, mtu }: EncapInputs, host: HostSnapshot): string[] =>
  encapIps.flatMap((ip) => {
    const link = linkOfAddress(host, ip);
    if (link === undefined) return [`tunnels are to end at ${ip}, which is no address of this node`];
    const needed = mtu + TUNNEL_BYTES[ipFamily(ip)];
    if (link.mtu >= needed) return [];
    return [
      `packets of pods (MTU ${mtu}) do not fit the tunnels: the MTU of ${link.name} is ${link.mtu}, and ${needed} is needed`,
    ];
  });
