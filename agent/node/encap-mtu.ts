/** Which packets of pods, with what a tunnel puts around them, fit the link they leave by. Pure. */
import { type Ip, ipFamily } from '../../net/ip.ts';
import { linkOfAddress } from './host-view.ts';
import type { HostSnapshot } from './uplink/types.ts';

/** Ethernet inside, Geneve with OVN's option, and UDP (RFC 8926). */
const TUNNEL_BYTES = 38;
const IP_BYTES = { 4: 20, 6: 40 } as const;

export interface EncapInputs {
  readonly encapIps: readonly Ip[];
  /** Whether tunnels are. */
  readonly isEncrypted: boolean;
}

/** One message each, without an end. */
export const encapProblems = ({ encapIps }: Pick<EncapInputs, 'encapIps'>, host: HostSnapshot): string[] =>
  encapIps.flatMap((ip) =>
    linkOfAddress(host, ip) === undefined ? [`the tunnel endpoint ${ip} is not an address of this node`] : [],
  );

/** The largest MTU of pods whose packets fit all of the node's tunnels; undefined where one of its addresses is on no link of the node. */
export const tunnelMtu = ({ encapIps, isEncrypted }: EncapInputs, host: HostSnapshot): number | undefined => {
  const fitting = encapIps.map((ip) => {
    const link = linkOfAddress(host, ip);
    return link && payloadWithin(link.mtu - IP_BYTES[ipFamily(ip)], isEncrypted) - TUNNEL_BYTES;
  });
  const known = fitting.filter((mtu) => mtu !== undefined);
  return known.length === 0 || known.length < fitting.length ? undefined : Math.min(...known);
};

/**
 * In transport mode, with AES-GCM as ovs-monitor-ipsec asks for it, there is around a payload: a header of 8 bytes, 8 of the nonce,
 * padding to four bytes with two that say how much it is and what is inside, and 16 of the check value (RFC 4303 §2, RFC 4106 §3, §6).
 */
const payloadWithin = (bytes: number, isEncrypted: boolean): number =>
  isEncrypted ? 4 * Math.floor((bytes - 32) / 4) - 2 : bytes;
