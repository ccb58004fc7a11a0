/**
 * What becomes of what pods of localnets send on the gateway bridge, one flow for all of them (`localnetSender`). They are hosts of the
 * physical network: the bridge switches between them, the uplink, the host and the default network. Two things they are not. They are
 * no node: nothing of theirs has its MAC, its addresses or those of its next hops, or a MAC of these or of another node, whoever gave the
 * pod which address, or none; nor does one tell hosts their addresses or their next hop. And they
 * are no tenant's neighbour on this node: all gateway routers have the node's MAC, so what is sent to it goes to the host and to the
 * default network alone, and what looks like an answer to a tenant to nobody.
 *
 * In another VLAN than the node's nobody has the node's addresses, and no network is: there only the node's MAC is kept from them.
 */
import type { Flow, Match } from '../../../datapath/openflow/types.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../../net/ip.ts';
import { linkLocalFromMac } from '../../../net/mac.ts';
import { CT_MARKS, CT_ZONES } from '../../model/registry/marks.ts';
import { FLOW_TABLES } from '../../model/registry/openflow.ts';
import { ct, DROP, flow, hex, ip, NORMAL, neighbourDiscovery, output } from '../shared/bridge/flow.ts';
import { sentBy } from '../shared/bridge/senders.ts';
import { type BridgeFamily, type BridgeSite, inVlan, toHost } from '../shared/bridge/site.ts';
import { DHCP_CLIENT_PORTS } from '../shared/dhcp.ts';
import { REPLY_STATES } from './node-flows.ts';

/** @param hostIps of the host, also on other links: another node's address, or the one that the node shares, may be on br-ex */
export const localnetFlows = (site: BridgeSite, hostIps: readonly Ip[]): Flow[] => [
  flow('classify', 'localnetSpoofed', { match: { ...sentBy('localnet'), dl_src: site.mac }, actions: DROP }),
  ...spoofed(site, hostIps).map(notBesideNode),
  ...site.families.map(({ family }) => reassembled(family)),
  ...site.families.map(({ family }) =>
    flow('classify', 'localnetToNode', {
      match: { ...sentBy('besideNode'), ...ip(family), dl_dst: site.mac },
      actions: [ct({ table: 'fromLocalnet', zone: CT_ZONES.external, nat: true })],
    }),
  ),
  flow('classify', 'localnetAnswer', {
    match: { ...inVlan(site), ...sentBy('besideNode'), dl_dst: site.mac },
    actions: toNode(site),
  }),
  flow('classify', 'localnet', { match: sentBy('localnet'), actions: [NORMAL] }),
  ...answered(site),
];

/** What a pod where the node is never sends. */
export const notBesideNode = (match: Match): Flow =>
  flow('classify', 'localnetSpoofed', { match: { ...sentBy('besideNode'), ...match }, actions: DROP });

/** The default network's router and the host: one of the two has asked. */
const toNode = (site: BridgeSite) => [output(site.defaultPatch), ...toHost(site)];

const answered = (site: BridgeSite): Flow[] => [
  ...site.families.flatMap(({ family }) =>
    family === 6
      ? [
          flow('fromLocalnet', 'neighbour', {
            match: { ...inVlan(site), ...neighbourDiscovery(136) },
            actions: toNode(site),
          }),
        ]
      : [],
  ),
  ...REPLY_STATES.flatMap((state) => [
    ...[CT_MARKS.default, CT_MARKS.host].map((mark) =>
      flow('fromLocalnet', 'known', {
        match: { ct_state: state, ct_mark: hex(mark) },
        actions: [`resubmit(,${FLOW_TABLES.replies})`],
      }),
    ),
    flow('fromLocalnet', 'ofTenant', { match: { ct_state: state }, actions: DROP }),
  ]),
  flow('fromLocalnet', 'toHost', { match: inVlan(site), actions: toHost(site) }),
];

/** As which no pod may speak where the node is: in ARP and neighbour discovery, and as a source. */
const spoofed = (site: BridgeSite, hostIps: readonly Ip[]): Match[] => [
  ...site.families.flatMap((own) => [...masqueraded(own), ...asOthers(site, own, hostIps), ...configuring(own.family)]),
  ...FAMILIES.filter((family) => site.families.every((own) => own.family !== family)).flatMap(unknownFamily),
];

/** The host may have addresses in a family that the cluster lacks, and nobody here knows which. */
const unknownFamily = (family: Family): Match[] => [ip(family), ...(family === 4 ? [{ arp: true as const }] : [])];

/** What tells a host its addresses and its next hop: DHCP and router advertisements. */
const configuring = (family: Family): Match[] => {
  const port = String(DHCP_CLIENT_PORTS[family]);
  return [
    { ...ip(family, {}, 'udp'), tp_dst: port },
    // Of a packet that has come in fragments, and remains so in OVS's userspace datapath (ovs-fields(7), `ct_tp_dst`).
    { ...ip(family), ct_state: '-inv+trk', ct_nw_proto: '17', ct_tp_dst: port },
    ...(family === 6 ? [neighbourDiscovery(134)] : []),
  ];
};

/** The flows here look at ports, which fragments do not have. */
const reassembled = (family: Family): Flow =>
  flow('classify', 'localnetFragment', {
    match: { ct_state: '-trk', ...sentBy('besideNode'), ...ip(family), nw_frag: 'yes' },
    actions: [ct({ table: 'classify', zone: CT_ZONES.localnetReassembly })],
  });

const asOthers = (
  { mac, gateway }: BridgeSite,
  { family, bridgeIps }: BridgeFamily,
  hostIps: readonly Ip[],
): Match[] => {
  const linkLocals = family === 6 ? [linkLocalFromMac(mac), ...(gateway.linkLocals ?? [])] : [];
  const others = [...hostIps, ...gateway.nextHops].filter((one) => ipFamily(one) === family);
  return [...new Set([...linkLocals, ...bridgeIps, ...others])].flatMap(as);
};

/** What is sent as somebody, and what says where that one is. */
export const as = (src: Ip): Match[] => {
  const family = ipFamily(src);
  return [
    ip(family, { src }),
    family === 4 ? { arp: true as const, arp_spa: src } : neighbourDiscovery(136, { nd_target: src }),
  ];
};

const masqueraded = ({ family, masqueradeSubnet }: BridgeFamily): Match[] => [
  ip(family, { src: masqueradeSubnet }),
  ip(family, { dst: masqueradeSubnet }),
  ...(family === 4
    ? [
        { arp: true as const, arp_spa: masqueradeSubnet },
        { arp: true as const, arp_tpa: masqueradeSubnet },
      ]
    : [
        neighbourDiscovery(135, { nd_target: masqueradeSubnet }),
        neighbourDiscovery(136, { nd_target: masqueradeSubnet }),
      ]),
];
