/** What a gateway router says of itself to who is outside. */
import type { Flow } from '../../../../datapath/openflow/types.ts';
import { cidrContainsIp } from '../../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../../net/ip.ts';
import { flow, ip, output } from './flow.ts';
import type { LocalPatch } from './local-patch.ts';
import type { BridgeSite } from './site.ts';

/**
 * Its gateway router says from a Service's address that nobody is behind it, or that a packet is too large: here from the node's, and from
 * others by `services/bridge`. Conntrack has noted nothing that was not answered, so the source tells. With a masquerade address they are
 * its pods' and leave as everything else of theirs; what the router has not translated has a pod's own address, and tells nothing in a
 * network that may give its pods that of a node.
 */
export const errorsFrom = ({ mac }: BridgeSite, { port, families }: LocalPatch, uplink: string, src: Ip): Flow[] =>
  families.some(({ podSubnets }) => podSubnets.some((subnet) => cidrContainsIp(subnet, src)))
    ? []
    : ERROR_TYPES[ipFamily(src)].map((icmp_type) =>
        flow('classify', 'error', {
          inPort: port,
          match: { dl_src: mac, ...ip(ipFamily(src), { src }, 'icmp'), icmp_type },
          actions: [output(uplink)],
        }),
      );

/** RFC 792: destination unreachable. RFC 4443: destination unreachable, packet too big. */
export const ERROR_TYPES = { 4: ['3'], 6: ['1', '2'] } as const;
