/** ICMP errors of gateway routers, by which they speak for addresses of Services. */
import type { Flow, Match } from '../../../../datapath/openflow/types.ts';
import { type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import { flow, ip, output } from './flow.ts';
import { type LocalPatch, mayBePods } from './local-patch.ts';
import type { BridgeSite } from './site.ts';

/** From an address for which one network speaks. It tells nothing in a network that may give it to its pods. */
export const errorsFrom = ({ mac }: BridgeSite, patch: LocalPatch, uplink: string, src: Ip): Flow[] =>
  mayBePods(patch, src)
    ? []
    : errorMatches(ipFamily(src), { src }).map((match) =>
        flow('classify', 'error', {
          inPort: patch.port,
          match: { dl_src: mac, ...match },
          actions: [output(uplink)],
        }),
      );

export const errorMatches = (family: Family, ends: Parameters<typeof ip>[1]): Match[] =>
  ERROR_TYPES[family].map((icmp_type) => ({ ...ip(family, ends, 'icmp'), icmp_type }));

/** RFC 792: destination unreachable. RFC 4443: destination unreachable, packet too big. */
const ERROR_TYPES = { 4: ['3'], 6: ['1', '2'] } as const;
