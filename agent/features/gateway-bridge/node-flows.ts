/** What the gateway bridge of a node has whichever networks there are. */
import { type Action, type Flow, LOCAL_PORT } from '../../../datapath/openflow/types.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { CT_LABELS, CT_MARKS, CT_ZONES, PACKET_MARKS } from '../../model/registry/marks.ts';
import { FLOW_REGISTERS, FLOW_TABLES } from '../../model/registry/openflow.ts';
import { GENEVE } from '../../model/registry/tunnels.ts';
import { ARP_REQUEST, ct, DROP, flow, hex, ip, NORMAL, neighbourDiscovery, output } from '../shared/bridge/flow.ts';
import { unknownToHost } from '../shared/bridge/host-endpoints.ts';
import {
  asNeighbour,
  type BridgeFamily,
  type BridgeSite,
  inVlan,
  inVlanOnly,
  toHost,
  toTrunk,
} from '../shared/bridge/site.ts';
import { leaveAs, leaving } from './leaving.ts';
import { TO_ASKER } from './neighbour-flows.ts';
import { tunnelPorts, unknownTunnels } from './tunnel-guard.ts';

export const nodeFlows = (site: BridgeSite): Flow[] => [
  flow('classify', 'normal', { actions: [NORMAL] }),
  ...tunnelPorts(site),
  ...sendersAsNode(site),
  ...site.families.flatMap((family) => [
    ...hostToServices(family),
    ...hostMasquerade(family),
    unknownToHost(family),
    flow('classify', 'masqueradeLeak', { match: ip(family.family, { dst: family.masqueradeSubnet }), actions: DROP }),
  ]),
  loopbackLeak(),
  ...serviceDispatch(site),
  ...(site.uplink === undefined ? [] : outside(site, site.uplink)),
];

/**
 * ovn-controller makes a network's patch port before anybody can know its number and write flows for it, and takes it away
 * after they are gone: meanwhile it would be a port of the switch like any other. What comes out of it has the node's MAC,
 * as all gateway routers have it, and ports that others have put on the bridge have MACs of their own.
 */
const sendersAsNode = ({ mac }: BridgeSite): Flow[] => [
  flow('classify', 'asNode', { inPort: LOCAL_PORT, match: { dl_src: mac }, actions: [NORMAL] }),
  flow('classify', 'asNodeUnknown', { match: { dl_src: mac }, actions: DROP }),
];

const hostToServices = ({ family, masqueradeSubnet, hostIp, balanced }: BridgeFamily): Flow[] =>
  balanced.flatMap((dst) => [
    flow('classify', 'masqueradedToService', {
      inPort: LOCAL_PORT,
      match: ip(family, { src: masqueradeSubnet, dst }),
      actions: [ct({ commit: true, table: 'services', zone: CT_ZONES.hostMasquerade })],
    }),
    flow('classify', 'masquerade', {
      inPort: LOCAL_PORT,
      match: ip(family, { dst }),
      actions: [ct({ commit: true, table: 'services', zone: CT_ZONES.hostMasquerade, nat: { src: hostIp } })],
    }),
  ]);

/** What OVN sends to the host appears to come from OVN's masquerade address, and goes back by it. */
const hostMasquerade = ({ family, ovnIp }: BridgeFamily): Flow[] => [
  flow('classify', 'masquerade', {
    inPort: LOCAL_PORT,
    match: ip(family, { dst: ovnIp }),
    actions: [ct({ table: 'hairpinReplies', zone: CT_ZONES.ovnMasquerade, nat: true })],
  }),
  flow('hairpin', 'any', {
    match: ip(family),
    actions: [ct({ commit: true, table: 'toHost', zone: CT_ZONES.ovnMasquerade, nat: { src: ovnIp } })],
  }),
  flow('hairpinReplies', 'any', {
    match: ip(family),
    actions: [ct({ commit: true, table: 'services', zone: CT_ZONES.hostMasquerade, nat: true })],
  }),
];

/**
 * Ports of pods at loopback addresses set `route_localnet` of this bridge (services/host-ports), and nftables drop what comes from other links for
 * them. This flow does so too where these are not in effect, as while nft fails.
 */
const loopbackLeak = (): Flow => flow('classify', 'loopbackLeak', { match: ip(4, { dst: LOOPBACK }), actions: DROP });

/** RFC 1122 3.2.1.3. */
const LOOPBACK = parseCidr('127.0.0.0/8');

const serviceDispatch = (site: BridgeSite): Flow[] => [
  flow('services', 'default', { actions: [...asNeighbour(site), ...toTrunk(site, site.defaultPatch)] }),
  flow('toHost', 'any', {
    match: inVlan(site),
    actions: [...asNeighbour(site), ...toHost(site)],
  }),
];

const outside = (site: BridgeSite, uplink: string): Flow[] => [
  ...site.families.flatMap((family) => [
    ...tunnels(site, uplink, family),
    ...[uplink, LOCAL_PORT].flatMap((port) => masqueradeOutside(port, family)),
    ...(site.isLocal ? [] : [reassembly(site, uplink, family)]),
    ...hostToOutside(site, uplink, family),
    ...repliesToHost(site, family),
    ...neighbourQuestions(site, family),
    ...(family.family === 6 ? advertisements() : []),
  ]),
  ...neighbourReplies(site),
  ...(site.isLocal ? [] : forServices(uplink)),
  ...leaving(site, uplink),
];

const tunnels = (site: BridgeSite, uplink: string, { family }: BridgeFamily): Flow[] => {
  const geneve = { ...ip(family, {}, 'udp'), tp_dst: String(GENEVE.port) };
  return [
    flow('classify', 'tunnelToHost', {
      inPort: uplink,
      match: { ...inVlan(site), dl_dst: site.mac, ...geneve },
      actions: toHost(site),
    }),
    flow('classify', 'tunnel', { inPort: uplink, match: geneve, actions: [NORMAL] }),
    flow('classify', 'tunnel', { inPort: LOCAL_PORT, match: geneve, actions: toTrunk(site, uplink) }),
    ...unknownTunnels(family),
  ];
};

/** Nobody outside has one of these addresses, or may ask for one; and nobody is asked for one there. */
const masqueradeOutside = (inPort: string, { family, masqueradeSubnet }: BridgeFamily): Flow[] => [
  // Also before what networks of this node say to each other by such addresses.
  flow('classify', inPort === LOCAL_PORT ? 'masqueradeLeak' : 'masqueradeIn', {
    inPort,
    match: ip(family, { src: masqueradeSubnet }),
    actions: DROP,
  }),
  flow('classify', 'masqueradeLeak', {
    inPort,
    match:
      family === 4
        ? { arp: true as const, arp_tpa: masqueradeSubnet }
        : neighbourDiscovery(135, { nd_target: masqueradeSubnet }),
    actions: DROP,
  }),
];

/**
 * Later flows look at ports, which only the first fragment has. In OVS's userspace datapath fragments remain fragments, now
 * with what conntrack knows of their packet: without `-trk` they would come here again and again, until they are dropped.
 * Of other VLANs they stay what they are: hosts there may have the same addresses, and fragments of both would become one packet.
 */
const reassembly = (site: BridgeSite, uplink: string, { family }: BridgeFamily): Flow =>
  flow('classify', 'fragment', {
    inPort: uplink,
    match: { ct_state: '-trk', ...inVlanOnly(site), ...ip(family), nw_frag: 'yes' },
    actions: [ct({ table: 'classify', zone: CT_ZONES.reassembly })],
  });

/** What clients send on is what conntrack takes for replies to a Service's answers. The Service is that which has the port now. */
const forServices = (uplink: string): Flow[] => [
  ...[{ ct_state: '-rpl+trk' }, { ct_state: '+rpl+trk', ct_label: hex(CT_LABELS.serviceAnswer) }].map((whose) =>
    flow('replies', 'service', {
      inPort: uplink,
      match: { [FLOW_REGISTERS.notForService]: '0', ...whose },
      actions: [`resubmit(,${FLOW_TABLES.servicesOutside})`],
    }),
  ),
  flow('servicesOutside', 'none', {
    actions: [`set_field:0x1->${FLOW_REGISTERS.notForService}`, `resubmit(,${FLOW_TABLES.replies})`],
  }),
];

const hostToOutside = (site: BridgeSite, uplink: string, own: BridgeFamily): Flow[] => {
  const { family, hostSubnets } = own;
  const commit = ct({ commit: true, zone: CT_ZONES.external, mark: CT_MARKS.host });
  return [
    ...asNode({ site, inPort: LOCAL_PORT, mark: CT_MARKS.host, toNeighbours: true }, own, toTrunk(site, uplink)),
    ...hostSubnetMatches(family, hostSubnets).map((match) =>
      flow('classify', 'hostSubnet', {
        inPort: LOCAL_PORT,
        match: { dl_src: site.mac, ...match },
        actions: [commit, NORMAL],
      }),
    ),
    flow('classify', 'egress', {
      inPort: LOCAL_PORT,
      match: ip(family),
      actions: [commit, ...toTrunk(site, uplink)],
    }),
  ];
};

export interface NodeSender {
  readonly site: BridgeSite;
  readonly inPort: string;
  /** Of its connections. */
  readonly mark: number;
  /** What is for neighbours of the node is switched, not sent out. */
  readonly toNeighbours: boolean;
}

/**
 * The host and the default network have the node's address already, and so have connections of tenants behind the bridge.
 * Two of them with the same port to the same server would be one connection to conntrack, and the second one's packets
 * would be dropped: each gets a port that no other has, its own one if that is free.
 */
export const asNode = (
  { site, inPort, mark, toNeighbours }: NodeSender,
  { family, bridgeIps, hostSubnets }: BridgeFamily,
  toOutside: readonly Action[],
): Flow[] =>
  bridgeIps.flatMap((src) => {
    const leave = (out: readonly Action[]): readonly Action[] => leaveAs(site, { src, mark }, out);
    return [
      ...(toNeighbours ? hostSubnets : []).map((dst) =>
        flow('classify', 'hostSubnetAsNode', {
          inPort,
          match: { dl_src: site.mac, ...ip(family, { src, dst }) },
          actions: leave([NORMAL]),
        }),
      ),
      flow('classify', 'egressAsNode', {
        inPort,
        match: { dl_src: site.mac, ...ip(family, { src }) },
        actions: leave(toOutside),
      }),
    ];
  });

/** Neighbour discovery of IPv6 goes to multicast addresses: it is to neighbours, too. */
export const hostSubnetMatches = (family: BridgeFamily['family'], subnets: readonly string[]) => [
  ...subnets.map((subnet) => ip(family, { dst: subnet as BridgeFamily['hostSubnets'][number] })),
  ...(family === 6 ? ([135, 136] as const).map((type) => neighbourDiscovery(type)) : []),
];

const repliesToHost = (site: BridgeSite, { family }: BridgeFamily): Flow[] => [
  flow('classify', 'toNode', {
    match: { ...ip(family), dl_dst: site.mac },
    actions: [ct({ table: 'replies', zone: CT_ZONES.external, nat: true })],
  }),
  ...REPLY_STATES.map((state) =>
    flow('replies', 'known', {
      match: { ...inVlan(site), ...ip(family), ct_state: state, ct_mark: hex(CT_MARKS.host) },
      actions: toHost(site),
    }),
  ),
  ...(site.isLocal ? [bfdReply(site, family)] : []),
];

/** Packets of a connection that is there, and ICMP errors about one. */
export const REPLY_STATES: readonly string[] = ['+est+trk', '+rel+trk'];

const bfdReply = (site: BridgeSite, family: BridgeFamily['family']): Flow =>
  flow('replies', 'bfd', {
    ...(site.uplink === undefined ? {} : { inPort: site.uplink }),
    match: { ...inVlan(site), ...ip(family, {}, 'udp'), ...BFD },
    actions: [output(site.defaultPatch), ...toHost(site)],
  });

/** RFC 5881 §4: the port of BFD's control packets. */
export const BFD = { tp_dst: '3784' };

/** All gateway routers have the node's MAC and address: if all would answer, there would be as many replies as networks. */
const neighbourQuestions = (site: BridgeSite, { family, bridgeIps }: BridgeFamily): Flow[] =>
  bridgeIps.map((address) =>
    flow('classify', 'nodeQuestion', {
      match: {
        ...inVlan(site),
        ...(family === 4 ? { ...ARP_REQUEST, arp_tpa: address } : neighbourDiscovery(135, { nd_target: address })),
      },
      actions: [output(site.defaultPatch), NORMAL],
    }),
  );

/** A reply does not say which of the routers with this MAC it is for; the default network's hears all of them. */
const neighbourReplies = (site: BridgeSite): Flow[] => [
  flow('classify', 'toBridge', {
    match: { ...inVlan(site), dl_dst: site.mac },
    actions: [output(site.defaultPatch), TO_ASKER, ...toHost(site)],
  }),
  flow('replies', 'toBridge', { match: { ...inVlan(site), dl_dst: site.mac }, actions: toHost(site) }),
  flow('replies', 'normal', { actions: [NORMAL] }),
];

/** As ARP replies; that they are IP has brought them here. */
const advertisements = (): Flow[] => [
  flow('replies', 'neighbour', { match: neighbourDiscovery(134), actions: ['FLOOD'] }),
  flow('replies', 'neighbour', { match: neighbourDiscovery(136), actions: [TO_ASKER, 'FLOOD'] }),
];

/** `pkt_mark` of what OVN wants to leave as the node. */
export const NODE_SNAT = { pkt_mark: hex(PACKET_MARKS.nodeSnat) };
