/** What a network adds to the gateway bridge: as many flows however many networks there are. */
import type { Flow } from '../../../datapath/openflow/types.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import { linkLocalFromMac } from '../../../net/mac.ts';
import { CT_MARKS, CT_ZONES, networkCtMark, networkPacketMark } from '../../model/registry/marks.ts';
import { FLOW_REGISTERS, FLOW_TABLES } from '../../model/registry/openflow.ts';
import { ERROR_TYPES, errorsFrom } from '../shared/bridge/errors.ts';
import { ARP_REQUEST, ct, DROP, flow, hex, ip, NORMAL, neighbourDiscovery, output } from '../shared/bridge/flow.ts';
import { hostEndpoints, toHostEndpoint } from '../shared/bridge/host-endpoints.ts';
import type { LocalPatch, PatchFamily } from '../shared/bridge/local-patch.ts';
import { asNeighbour, type BridgeSite, inVlan, toHost, toTrunk } from '../shared/bridge/site.ts';
import { leaveAs } from './leaving.ts';
import { asking, QUESTION } from './neighbour-flows.ts';
import { asNode, BFD, hostSubnetMatches, NODE_SNAT, REPLY_STATES } from './node-flows.ts';
import { tunnelsFrom } from './tunnel-guard.ts';

export const networkFlows = (site: BridgeSite, patch: LocalPatch): Flow[] => [
  tunnelsFrom(patch),
  ...patch.families.flatMap((family) => [
    ...withServices(patch, family),
    ...(site.isLocal ? hairpins(patch, family) : []),
    ...replies(patch, family),
    ...(site.uplink === undefined ? [] : egress(site, patch, family, site.uplink)),
  ]),
  ...(patch.isDefault ? defaultNetwork(site, patch) : tenant(site, patch)),
  ...(site.isLocal || site.uplink === undefined ? [] : ofServices(site, patch, site.uplink)),
];

/**
 * Services send what the host has to answer to the host's masquerade address: of the default network from the node's own, of a
 * tenant from its gateway router's.
 */
const withServices = (patch: LocalPatch, own: PatchFamily): Flow[] => {
  const { port, extraHostIps, isDefault } = patch;
  const { family, nodeIp, hostIp, masqueradeSubnet, serviceSubnets } = own;
  const toHairpin = { commit: true, table: 'hairpin', zone: CT_ZONES.hostMasquerade } as const;
  const router = isDefault ? nodeIp : own.routerIp;
  return [
    ...(router === undefined ? [] : [toHostEndpoint(patch, own, { src: router })]),
    ...extraHostIps
      .filter((extra) => ipFamily(extra) === family && extra !== nodeIp && extra !== hostIp)
      .map((dst) =>
        flow('classify', 'masquerade', {
          inPort: port,
          match: ip(family, { src: nodeIp, dst }),
          actions: [ct(toHairpin)],
        }),
      ),
    ...serviceSubnets.flatMap((subnet) => [
      flow('classify', 'masquerade', {
        inPort: port,
        match: ip(family, { src: subnet, dst: masqueradeSubnet }),
        actions: [ct({ table: 'toHost', zone: CT_ZONES.hostMasquerade, nat: true })],
      }),
      flow('classify', 'serviceLeak', { inPort: port, match: ip(family, { dst: subnet }), actions: DROP }),
    ]),
  ];
};

const hairpins = ({ port }: LocalPatch, { family, nodeIp }: PatchFamily): Flow[] =>
  (['tcp', 'udp', 'sctp'] as const).map((protocol) =>
    flow('classify', 'hairpin', {
      inPort: port,
      match: ip(family, { src: nodeIp }, protocol),
      actions: [ct({ table: 'hairpin', zone: CT_ZONES.hostMasquerade })],
    }),
  );

/**
 * In local gateway mode nothing has told the sender how large a packet may be: what is too large goes to the host, whose
 * kernel does. Not what another node says as an endpoint: that is for a client elsewhere, and the host does not know the address.
 */
const replies = (patch: LocalPatch, { family, routerIp }: PatchFamily): Flow[] => {
  const { ctMark, largestFrame, port } = patch;
  const known = (state: string, dst?: Ip) => ({ ...ip(family, { dst }), ct_state: state, ct_mark: hex(ctMark) });
  if (largestFrame === undefined) {
    return REPLY_STATES.map((state) => flow('replies', 'known', { match: known(state), actions: [output(port)] }));
  }
  const sized = [
    `check_pkt_larger(${largestFrame})->${FLOW_REGISTERS.tooLarge}`,
    `resubmit(,${FLOW_TABLES.replySize})`,
  ];
  return [
    ...REPLY_STATES.map((state) => flow('replies', 'known', { match: known(state), actions: sized })),
    ...(routerIp === undefined
      ? []
      : [flow('replies', 'ofOtherNodes', { match: known('+est+trk', routerIp), actions: [output(port)] })]),
  ];
};

/**
 * Packets leave with the node's address. Of a tenant only those that its gateway router has translated, and what its load balancers
 * there send to endpoints that are other nodes.
 */
const egress = (site: BridgeSite, patch: LocalPatch, own: PatchFamily, uplink: string): Flow[] => {
  const { family, nodeIp, masqueradeIp, routerIp } = own;
  const leave = leaveAs(site, { src: nodeIp, mark: patch.ctMark }, [output(uplink)]);
  const fromRouter = { dl_src: site.mac };
  const toOtherNodes = flow('classify', 'egress', {
    inPort: patch.port,
    match: { ...fromRouter, ...ip(family, { src: routerIp }) },
    actions: leave,
  });
  return [
    flow('classify', 'nodeSnat', {
      inPort: patch.port,
      match: { ...fromRouter, ...ip(family), ...NODE_SNAT },
      actions: leave,
    }),
    flow('classify', 'egress', {
      inPort: patch.port,
      match: { ...fromRouter, ...ip(family, { src: masqueradeIp }) },
      actions: patch.isDefault
        ? [ct({ commit: true, zone: CT_ZONES.external, mark: CT_MARKS.default }), output(uplink)]
        : leave,
    }),
    ...(routerIp === undefined ? [] : [toOtherNodes]),
  ];
};

/**
 * Its gateway router is the node: it translates to the node's address itself, and answers for it. What has a pod's own address still is
 * what conntrack takes for nothing (errors about no connection, fragments without their first), or came to the router by a group's MAC.
 */
const defaultNetwork = (site: BridgeSite, patch: LocalPatch): Flow[] => [
  ...patch.families.flatMap(({ family, podSubnets }) =>
    podSubnets.map((src) =>
      flow('classify', 'untranslated', { inPort: patch.port, match: ip(family, { src }), actions: DROP }),
    ),
  ),
  ...(site.uplink === undefined ? [] : withUplink(site, patch, site.uplink)),
  flow('classify', 'asNode', { inPort: patch.port, match: { dl_src: site.mac }, actions: [NORMAL] }),
  flow('classify', 'spoofedDefault', { inPort: patch.port, actions: DROP }),
  ...patch.families.map(({ family }) => byMark(site, patch, family)),
  ...(patch.largestFrame === undefined
    ? []
    : [
        flow('replySize', 'tooLarge', { match: { ...inVlan(site), reg0: '0x1' }, actions: toHost(site) }),
        flow('replySize', 'default', { actions: [output(patch.port)] }),
      ]),
];

const withUplink = (site: BridgeSite, patch: LocalPatch, uplink: string): Flow[] => {
  const sender = { site, inPort: patch.port, mark: CT_MARKS.default, toNeighbours: !site.isLocal };
  return patch.families.flatMap((family) => [
    ...asNode(sender, family, [output(uplink)]),
    ...toNeighbours(site, patch, family),
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
const byMark = (site: BridgeSite, { id, port }: LocalPatch, family: PatchFamily['family']): Flow =>
  flow('services', 'byMark', {
    match: { ...ip(family), pkt_mark: hex(networkPacketMark(id)) },
    actions: [...asNeighbour(site), ...toTrunk(site, port)],
  });

const ofServices = (site: BridgeSite, patch: LocalPatch, uplink: string): Flow[] =>
  patch.families.flatMap((family) => [
    ...answers(site, patch, family),
    ...errorsBetween(site, patch, family),
    ...(patch.isDefault ? [] : family.bridgeIps.flatMap((src) => errorsFrom(site, patch, uplink, src))),
  ]);

/**
 * The same as `errorsFrom` about what another network of this node has sent to an external address: who has asked is told, by the address. Errors
 * of the network's own pods are not let through: in them they could say what they like about connections of others. They have the
 * address that these have on the way out, or their own, where conntrack knows no connection that they are about.
 */
const errorsBetween = ({ mac }: BridgeSite, { port, isDefault }: LocalPatch, own: PatchFamily): Flow[] => {
  const { family, masqueradeSubnet, nodeIp, podSubnets } = own;
  const ofPods = [isDefault ? nodeIp : masqueradeSubnet, ...podSubnets];
  return [
    ...ofPods.map((src) =>
      flow('classify', 'errorOfPods', {
        inPort: port,
        match: ip(family, { src, dst: masqueradeSubnet }, 'icmp'),
        actions: DROP,
      }),
    ),
    ...ERROR_TYPES[family].map((icmp_type) =>
      flow('classify', 'errorBetween', {
        inPort: port,
        match: { dl_src: mac, ...ip(family, { dst: masqueradeSubnet }, 'icmp'), icmp_type },
        actions: [`resubmit(,${FLOW_TABLES.betweenNetworks})`],
      }),
    ),
  ];
};

/** Of other networks' Services on this node, which have external addresses. See `service-flows`. */
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

/** It asks for neighbours as the node, and has nothing else to say than what the flows above let pass. */
const tenant = (site: BridgeSite, patch: LocalPatch): Flow[] => [
  ...(site.uplink === undefined ? [] : [...questions(site, patch), ...asking(patch, site.uplink)]),
  flow('classify', 'spoofed', { inPort: patch.port, actions: DROP }),
  ...patch.families.flatMap((own) => [
    byMark(site, patch, own.family),
    ...hostEndpoints(site, patch, own),
    flow('services', 'tenantSource', { match: ip(own.family, { src: own.managementIp }), actions: DROP }),
  ]),
  ...(patch.largestFrame === undefined
    ? []
    : [
        flow('replySize', 'network', {
          match: { ct_mark: hex(networkCtMark(patch.id)) },
          actions: [output(patch.port)],
        }),
      ]),
];

/**
 * The sender is what neighbours learn: it must be the node. OVN asks for IPv6 neighbours from the link-local address of
 * the router's MAC (ovn-controller's `pinctrl_handle_nd_ns`); the node's own addresses are allowed as well.
 */
const questions = ({ mac }: BridgeSite, { port, families }: LocalPatch): Flow[] =>
  families.flatMap(({ family, bridgeIps }) => {
    const senders: readonly Ip[] = family === 4 ? bridgeIps : [linkLocalFromMac(mac), ...bridgeIps];
    return senders.map((sender) =>
      flow('classify', 'neighbourQuestion', {
        inPort: port,
        match: {
          dl_src: mac,
          ...(family === 4
            ? { ...ARP_REQUEST, arp_spa: sender, arp_sha: mac }
            : { ...neighbourDiscovery(135, { nd_sll: mac }), ipv6_src: sender }),
        },
        actions: [QUESTION],
      }),
    );
  });
