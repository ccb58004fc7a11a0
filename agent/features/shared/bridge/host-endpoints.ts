/**
 * To endpoints of Services that are this node itself, and back. Load balancers have the host's masquerade address for them. What a
 * tenant sends is noted, as the host's answers go to one address whichever network has asked.
 */
import type { Flow, Match } from '../../../../datapath/openflow/types.ts';
import type { Ip } from '../../../../net/ip.ts';
import { CT_ZONES } from '../../../model/registry/marks.ts';
import { ct, DROP, flow, hex, ip } from './flow.ts';
import type { LocalPatch, PatchFamily } from './local-patch.ts';
import { sentBy } from './senders.ts';
import { asNeighbour, type BridgeFamily, type BridgeSite, toTrunk } from './site.ts';

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

/** Of all tenants: what their gateway routers send on, and what pods have begun with a port that one of their Services has. */
export const toHostEndpoints = ({ family, nodeIp, hostIp }: BridgeFamily): Flow[] => {
  const toHairpin = { table: 'hairpin', zone: CT_ZONES.hostMasquerade } as const;
  const dst = ip(family, { dst: hostIp });
  return [
    flow('classify', 'masquerade', {
      match: { ...dst, ...sentBy('router') },
      actions: [ct({ ...toHairpin, commit: true, nat: { dst: nodeIp }, mark: 'ofSender' })],
    }),
    flow('classify', 'masqueradeKnown', {
      match: { ...dst, ...sentBy('masqueraded') },
      actions: [ct({ ...toHairpin, nat: true })],
    }),
  ];
};

/** To a tenant. What others are answered goes to the default network. */
export const ofHostEndpoints = (site: BridgeSite, patch: LocalPatch): Flow =>
  flow('services', 'ofHostEndpoint', {
    match: { ct_mark: hex(patch.ctMark) },
    actions: [...asNeighbour(site), ...toTrunk(site, patch.port)],
  });

/**
 * A connection that an endpoint has goes on when it is none any more, as kube-proxy has it, and so do fragments, which have no port.
 * What conntrack does not know keeps its destination, and ends here.
 */
export const unknownToHost = ({ family, hostIp }: Pick<BridgeFamily, 'family' | 'hostIp'>): Flow =>
  flow('hairpin', 'unknown', { match: ip(family, { dst: hostIp }), actions: DROP });
