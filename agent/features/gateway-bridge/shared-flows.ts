/**
 * What becomes of what networks send, one flow for all of them: `senders` has told which network it is, and as whom. A network that
 * comes or goes changes none of these.
 */
import type { Flow } from '../../../datapath/openflow/types.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import { linkLocalFromMac } from '../../../net/mac.ts';
import { CT_ZONES } from '../../model/registry/marks.ts';
import { ARP_REQUEST, ct, DROP, flow, ip, neighbourDiscovery, output } from '../shared/bridge/flow.ts';
import { toHostEndpoints } from '../shared/bridge/host-endpoints.ts';
import { sentBy, sentIn } from '../shared/bridge/senders.ts';
import { asNeighbour, type BridgeFamily, type BridgeSite, toTrunk } from '../shared/bridge/site.ts';
import { sharedErrors } from './errors.ts';
import { leaveAs } from './leaving.ts';
import { QUESTION } from './neighbour-flows.ts';
import { NODE_SNAT } from './node-flows.ts';

/** @param hostIps of the host, also on other links */
export const sharedFlows = (site: BridgeSite, hostIps: readonly Ip[]): Flow[] => [
  ...site.families.flatMap((own) => [
    ...toHostIps(own, hostIps),
    ...toHostEndpoints(own),
    ...withServices(own),
    ...fromHost(site, own),
    ...(site.isLocal ? hairpins(own) : []),
    ...(site.uplink === undefined ? [] : outside(site, own, site.uplink)),
  ]),
  // It has nothing else to say than what the flows above let pass.
  flow('classify', 'spoofed', { match: sentBy('tenant'), actions: DROP }),
];

const outside = (site: BridgeSite, own: BridgeFamily, uplink: string): Flow[] => [
  ...egress(site, own, uplink),
  ...questions(site, own),
  ...(site.isLocal ? [] : sharedErrors(site, own, uplink)),
];

const toHostIps = ({ family, nodeIp, hostIp }: BridgeFamily, hostIps: readonly Ip[]): Flow[] =>
  hostIps
    .filter((extra) => ipFamily(extra) === family && extra !== nodeIp && extra !== hostIp)
    .map((dst) =>
      flow('classify', 'masquerade', {
        match: { ...sentIn(family, 'network'), ...ip(family, { src: nodeIp, dst }) },
        actions: [ct({ commit: true, table: 'hairpin', zone: CT_ZONES.hostMasquerade })],
      }),
    );

const withServices = ({ family, masqueradeSubnet, balanced }: BridgeFamily): Flow[] =>
  balanced.flatMap((subnet) => [
    flow('classify', 'masquerade', {
      match: { ...sentIn(family, 'network'), ...ip(family, { src: subnet, dst: masqueradeSubnet }) },
      actions: [ct({ table: 'toHost', zone: CT_ZONES.hostMasquerade, nat: true })],
    }),
    flow('classify', 'serviceLeak', {
      match: { ...sentIn(family, 'network'), ...ip(family, { dst: subnet }) },
      actions: DROP,
    }),
  ]);

/** Of masquerade addresses the host has one. All others are tenants', which the host sees their pods by. */
const fromHost = (site: BridgeSite, { family, hostIp, masqueradeSubnet }: BridgeFamily): Flow[] => [
  flow('services', 'hostSource', {
    match: ip(family, { src: hostIp }),
    actions: [...asNeighbour(site), ...toTrunk(site, site.defaultPatch)],
  }),
  flow('services', 'tenantSource', { match: ip(family, { src: masqueradeSubnet }), actions: DROP }),
];

const hairpins = ({ family, nodeIp }: BridgeFamily): Flow[] =>
  (['tcp', 'udp', 'sctp'] as const).map((protocol) =>
    flow('classify', 'hairpin', {
      match: { ...sentIn(family, 'network'), ...ip(family, { src: nodeIp }, protocol) },
      actions: [ct({ table: 'hairpin', zone: CT_ZONES.hostMasquerade })],
    }),
  );

/**
 * Packets leave with the node's address. Of a tenant only those that its gateway router has translated, and what its load balancers
 * there send to endpoints that are other nodes.
 */
const egress = (site: BridgeSite, { family, nodeIp }: BridgeFamily, uplink: string): Flow[] => {
  const fromRouter = { dl_src: site.mac, ...ip(family) };
  const actions = leaveAs(site, { src: nodeIp, mark: 'ofSender' }, [output(uplink)]);
  return [
    flow('classify', 'nodeSnat', { match: { ...fromRouter, ...sentIn(family, 'network'), ...NODE_SNAT }, actions }),
    ...(['masqueraded', 'router'] as const).map((sender) =>
      flow('classify', 'egress', { match: { ...fromRouter, ...sentBy(sender) }, actions }),
    ),
  ];
};

/**
 * Of tenants. The sender is what neighbours learn: it must be the node. OVN asks for IPv6 neighbours from the link-local address of
 * the router's MAC (ovn-controller's `pinctrl_handle_nd_ns`); the node's own addresses are allowed as well.
 */
const questions = ({ mac }: BridgeSite, { family, bridgeIps }: BridgeFamily): Flow[] => {
  const senders: readonly Ip[] = family === 4 ? bridgeIps : [linkLocalFromMac(mac), ...bridgeIps];
  return senders.map((sender) =>
    flow('classify', 'neighbourQuestion', {
      match: {
        dl_src: mac,
        ...sentIn(family, 'tenant'),
        ...(family === 4
          ? { ...ARP_REQUEST, arp_spa: sender, arp_sha: mac }
          : { ...neighbourDiscovery(135, { nd_sll: mac }), ipv6_src: sender }),
      },
      actions: [QUESTION],
    }),
  );
};
