/** What a network adds to the gateway bridge: as many flows however many networks there are. */
import type { Action, Flow } from '../../../datapath/openflow/types.ts';
import type { Ip } from '../../../net/ip.ts';
import { CT_MARKS, CT_ZONES, networkPacketMark } from '../../model/registry/marks.ts';
import { FLOW_REGISTERS, FLOW_TABLES } from '../../model/registry/openflow.ts';
import { ct, DROP, flow, hex, ip, NORMAL, output } from '../shared/bridge/flow.ts';
import { ofHostEndpoints, toHostEndpoint } from '../shared/bridge/host-endpoints.ts';
import type { LocalPatch, PatchFamily } from '../shared/bridge/local-patch.ts';
import { senders } from '../shared/bridge/senders.ts';
import { asNeighbour, type BridgeSite, inVlan, toHost, toTrunk } from '../shared/bridge/site.ts';
import { ownErrors } from './errors.ts';
import { asking } from './neighbour-flows.ts';
import { asNode, BFD, hostSubnetMatches, REPLY_STATES } from './node-flows.ts';

export const networkFlows = (site: BridgeSite, patch: LocalPatch): Flow[] => [
  ...senders(patch),
  ...replies(patch),
  byMark(site, patch),
  ...(patch.isDefault ? defaultNetwork(site, patch) : tenant(site, patch)),
  ...(site.isLocal || site.uplink === undefined ? [] : ofServices(site, patch, site.uplink)),
];

/**
 * In local gateway mode nothing has informed the sender how large a packet may be: what is too large goes to the host,
 * whose kernel does. Not what another node says as an endpoint: that is for a client elsewhere, and the host does not know
 * the address.
 */
const replies = (patch: LocalPatch): Flow[] => {
  const { ctMark, families, largestFrame, port } = patch;
  const whose = (state: string) => ({ ct_state: state, ct_mark: hex(ctMark) });
  const known = (actions: readonly Action[]): Flow[] =>
    REPLY_STATES.map((state) => flow('replies', 'known', { match: whose(state), actions }));
  if (largestFrame === undefined) return known([output(port)]);
  return [
    ...known([`check_pkt_larger(${largestFrame})->${FLOW_REGISTERS.tooLarge}`, `resubmit(,${FLOW_TABLES.replySize})`]),
    ...families.flatMap(({ family, routerIp: dst }) =>
      dst === undefined
        ? []
        : [
            flow('replies', 'ofOtherNodes', {
              match: { ...ip(family, { dst }), ...whose('+est+trk') },
              actions: [output(port)],
            }),
          ],
    ),
  ];
};

/**
 * Its gateway router is the node: it translates to the node's address itself, and answers for it. What has a pod's own address still is
 * what conntrack takes for nothing (errors about no connection, fragments without their first), or came to the router by a group's MAC.
 */
const defaultNetwork = (site: BridgeSite, patch: LocalPatch): Flow[] => [
  ...patch.families.flatMap((own) => [
    // Its Services have the node's own address for what the host has to answer.
    toHostEndpoint(patch, own, { src: own.nodeIp }),
    ...own.podSubnets.map((src) =>
      flow('classify', 'untranslated', { inPort: patch.port, match: ip(own.family, { src }), actions: DROP }),
    ),
  ]),
  ...(site.uplink === undefined ? [] : withUplink(site, patch, site.uplink)),
  flow('classify', 'asNode', { inPort: patch.port, match: { dl_src: site.mac }, actions: [NORMAL] }),
  flow('classify', 'spoofedDefault', { inPort: patch.port, actions: DROP }),
  ...(patch.largestFrame === undefined
    ? []
    : [
        flow('replySize', 'tooLarge', { match: { ...inVlan(site), reg0: '0x1' }, actions: toHost(site) }),
        flow('replySize', 'default', { actions: [output(patch.port)] }),
      ]),
];

const withUplink = (site: BridgeSite, patch: LocalPatch, uplink: string): Flow[] => {
  const sender = { site, inPort: patch.port, mark: CT_MARKS.default, toNeighbours: !site.isLocal };
  return patch.families.flatMap((own) => [
    ...asNode(sender, own, [output(uplink)]),
    ...toNeighbours(site, patch, own),
    flow('classify', 'egress', {
      inPort: patch.port,
      match: { dl_src: site.mac, ...ip(own.family) },
      actions: [ct({ commit: true, zone: CT_ZONES.external, mark: CT_MARKS.default }), output(uplink)],
    }),
  ]);
};

const toNeighbours = (site: BridgeSite, { port }: LocalPatch, own: PatchFamily): Flow[] => {
  const { family, hostSubnets } = own;
  if (site.isLocal) return [bfd(site, port, own)];
  return hostSubnetMatches(family, hostSubnets).map((match) =>
    flow('classify', 'hostSubnet', {
      inPort: port,
      match: { dl_src: site.mac, ...match },
      actions: [ct({ commit: true, zone: CT_ZONES.external, mark: CT_MARKS.default }), NORMAL],
    }),
  );
};

const bfd = (site: BridgeSite, port: string, { family }: PatchFamily): Flow =>
  flow('classify', 'bfd', {
    inPort: port,
    match: { dl_src: site.mac, ...ip(family, {}, 'udp'), ...BFD },
    actions: site.uplink === undefined ? DROP : [output(site.uplink)],
  });

/** From the host to its Services, for which nftables have marked it: also of tenants, which reach no others. */
const byMark = (site: BridgeSite, { id, port }: LocalPatch): Flow =>
  flow('services', 'byMark', {
    match: { pkt_mark: hex(networkPacketMark(id)) },
    actions: [...asNeighbour(site), ...toTrunk(site, port)],
  });

const ofServices = (site: BridgeSite, patch: LocalPatch, uplink: string): Flow[] => [
  ...patch.families.flatMap((own) => answers(site, patch, own)),
  ...ownErrors(site, patch, uplink),
];

/** Of other networks' Services on this node, which have external addresses. See `services/bridge`. */
const answers = ({ mac }: BridgeSite, patch: LocalPatch, own: PatchFamily): Flow[] => {
  const { family, nodeIp, ovnIp, masqueradeIp } = own;
  const asAsked = (dst: Ip): Flow =>
    flow('betweenNetworks', 'network', {
      match: ip(family, { dst }),
      actions: [`set_field:${mac}->eth_dst`, output(patch.port)],
    });
  if (!patch.isDefault) return masqueradeIp === undefined ? [] : [asAsked(masqueradeIp)];
  return [
    flow('betweenNetworks', 'asNode', {
      // What conntrack knows nothing of any more would come here again and again.
      match: { ct_state: '-trk', ...ip(family, { dst: ovnIp }) },
      actions: [ct({ table: 'betweenNetworks', zone: CT_ZONES.ovnMasquerade, nat: true })],
    }),
    asAsked(nodeIp),
  ];
};

const tenant = (site: BridgeSite, patch: LocalPatch): Flow[] => [
  ...(site.uplink === undefined ? [] : asking(patch, site.uplink)),
  ofHostEndpoints(site, patch),
  ...(patch.largestFrame === undefined
    ? []
    : [flow('replySize', 'network', { match: { ct_mark: hex(patch.ctMark) }, actions: [output(patch.port)] })]),
];
