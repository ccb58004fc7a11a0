/**
 * To endpoints of Services that are this node itself, and back. Load balancers have the host's masquerade address for them. What a
 * tenant sends is noted, as the host's answers go to one address whichever network has asked.
 */
import type { Flow, Match } from '../../../datapath/openflow/types.ts';
import type { Ip } from '../../../net/ip.ts';
import { CT_ZONES } from '../../model/registry/marks.ts';
import { ct, flow, hex, ip } from './flow.ts';
import type { LocalPatch, PatchFamily } from './local-patch.ts';
import { asNeighbour, type BridgeSite, toTrunk } from './site.ts';

interface Sender {
  readonly src: Ip;
  /** Only to this port; absent: whatever it sends. */
  readonly to?: { readonly protocol: 'tcp' | 'udp' | 'sctp'; readonly port: number };
}

export const toHostEndpoint = (patch: LocalPatch, own: PatchFamily, { src, to }: Sender): Flow => {
  const { family, nodeIp, hostIp } = own;
  const match: Match = ip(family, { src, dst: hostIp }, to?.protocol);
  return flow('classify', 'masquerade', {
    inPort: patch.port,
    match: to === undefined ? match : { ...match, tp_dst: String(to.port) },
    actions: [
      ct({
        ...{ commit: true, table: 'hairpin', zone: CT_ZONES.hostMasquerade, nat: { dst: nodeIp } },
        ...(patch.isDefault ? {} : { mark: patch.ctMark }),
      }),
    ],
  });
};

/** Of a tenant. Others go to the default network. */
export const hostEndpointAnswers = (
  site: BridgeSite,
  { port, ctMark }: LocalPatch,
  family: PatchFamily['family'],
): Flow =>
  flow('services', 'ofHostEndpoint', {
    match: { ...ip(family), ct_mark: hex(ctMark) },
    actions: [...asNeighbour(site), ...toTrunk(site, port)],
  });
