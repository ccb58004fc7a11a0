/** How the host reaches the default network: pods by the management port, services by the gateway bridge. */
import { hostPortSubnet, MASQUERADE_OFFSETS } from '../../../api/cluster-config.ts';
import { gatewayIp, gatewayMac } from '../../../api/network.ts';
import type { DesiredFilter, HostItem } from '../../../datapath/host/types.ts';
import { MAIN_TABLE } from '../../../datapath/netlink/route/types.ts';
import { addressAt, type Cidr, cidrFamily, hostRoute, interfaceAddress, prefixLength } from '../../../net/cidr.ts';
import type { Family, Ip } from '../../../net/ip.ts';
import { managementLinkName } from '../../model/host-names.ts';
import { PACKET_MARKS } from '../../model/registry/marks.ts';
import { MANAGEMENT_PORT_TABLE, RULE_PRIORITIES } from '../../model/registry/routing.ts';
import type { View } from '../../model/view.ts';
import { type BridgeFamily, bridgeFamilies } from '../shared/bridge/site.ts';
import type { RoutedNetwork } from '../shared/local-network.ts';
import { fixedNeighbour, linkSetting, routeItem, ruleItem } from './items.ts';

/**
 * What is marked as for Services whose traffic stays on the node: by the management port to the node's switch, which has their
 * endpoints here (`service-internal`).
 */
export const internalServiceRoutes = ({ network, subnets }: RoutedNetwork, view: View): HostItem[] => {
  if (view.gateway(view.node) === undefined) return [];
  const dev = managementLinkName(network.id);
  const { priority, table } = { priority: RULE_PRIORITIES.internalTrafficLocal, table: MANAGEMENT_PORT_TABLE };
  return subnets.flatMap((subnet): HostItem[] => {
    const family = cidrFamily(subnet);
    const services = view.cluster.serviceSubnets.filter((dst) => cidrFamily(dst) === family);
    const via = gatewayIp(network, subnet);
    return [
      ...services.map((dst) => routeItem({ table, dst, via, dev })),
      ruleItem({ family, priority, fwmark: PACKET_MARKS.internalTrafficLocal, table }),
    ];
  });
};

/** By the node's own subnet to all pods. The neighbour is OVN's router: it has the same MAC for both families. */
export const defaultNetworkRoutes = ({ network, subnets }: RoutedNetwork, { cluster }: View): HostItem[] => {
  const dev = managementLinkName(network.id);
  const mac = gatewayMac(network, subnets);
  return subnets.flatMap((subnet): HostItem[] => {
    const via = gatewayIp(network, subnet);
    const family = cidrFamily(subnet);
    const targets = [...network.subnets.map(({ cidr }) => cidr), ...fixedRoute(cluster.masqueradeSubnets, family)];
    return [
      ...targets.filter((dst) => cidrFamily(dst) === family).map((dst) => routeItem({ dst, via, dev })),
      ...(mac === undefined ? [] : [{ kind: 'neighbour', neighbour: { link: dev, address: via, mac } } as const]),
    ];
  });
};

const fixedRoute = (masqueradeSubnets: readonly Cidr[], family: Family): Cidr[] =>
  masqueradeSubnets
    .filter((subnet) => cidrFamily(subnet) === family)
    .map((subnet) => hostRoute(addressAt(subnet, MASQUERADE_OFFSETS.hostEtpLocal)));

/**
 * Services have no address on any link: the host sends packets for them to a neighbour that does not exist, from its
 * masquerade address, and the gateway bridge takes it from there.
 */
export const gatewayBridgeItems = (view: View): HostItem[] => {
  const gateway = view.gateway(view.node);
  if (gateway === undefined) return [];
  const { cluster } = view;
  const ofFamilies = bridgeFamilies(gateway, cluster).flatMap((family) => [
    masqueradeAddress(gateway.bridge, family),
    ...bridgeRoutes(gateway.bridge, family, cluster.mtu),
    hostPortRule(family),
    fixedNeighbour(gateway.bridge, family.ovnIp),
    fixedNeighbour(gateway.bridge, dummyNextHop(family)),
    ...forwarding(gateway.bridge, family.family),
  ]);
  return [{ kind: 'filter', filter: { link: gateway.bridge, rules: WITHOUT_MARKS } }, ...ofFamilies];
};

/**
 * The bridge goes by marks of networks, which `udn-network-marks` keeps from what processes send by the IP stack. By packet sockets they may
 * send what they like there (DHCP, announcements of addresses), but nothing with a mark.
 */
const WITHOUT_MARKS: DesiredFilter['rules'] = [
  { tests: [{ origin: 'routed' }], verdict: 'accept' },
  { tests: [{ origin: 'process' }, { origin: 'marked' }], verdict: 'drop' },
  { tests: [], verdict: 'accept' },
];

/** RFC 4862 §5.5.4: a deprecated address is not taken as the source of new connections by itself. */
const masqueradeAddress = (link: string, { family, hostIp, masqueradeSubnet }: BridgeFamily): HostItem => ({
  kind: 'address',
  address: {
    link,
    address: interfaceAddress(hostIp, prefixLength(masqueradeSubnet)),
    ...(family === 6 ? { deprecated: true, noDad: true } : {}),
  },
});

const bridgeRoutes = (dev: string, family: BridgeFamily, mtu: number): HostItem[] => [
  routeItem({ dst: hostRoute(family.ovnIp), dev, src: family.nodeIp, mtu }),
  ...family.balanced.map((dst) => routeItem({ dst, via: dummyNextHop(family), dev, src: family.hostIp, mtu })),
];

/** What a tenant's pods send to their own node is in their VRF, which has a route to Services and none to ports of pods. */
const hostPortRule = ({ family, masqueradeSubnet }: BridgeFamily): HostItem =>
  ruleItem({ family, priority: RULE_PRIORITIES.hostPorts, to: hostPortSubnet(masqueradeSubnet), table: MAIN_TABLE });

export const dummyNextHop = ({ masqueradeSubnet }: BridgeFamily): Ip =>
  addressAt(masqueradeSubnet, MASQUERADE_OFFSETS.dummyNextHop);

/**
 * Replies to pods come in by the bridge and go on to a management port. For IPv6 only the setting of all links decides
 * about that (ip-sysctl, `conf/all/forwarding`).
 */
const forwarding = (bridge: string, family: Family): HostItem[] => [
  linkSetting(family, bridge, 'forwarding', '1'),
  ...(family === 6 ? [linkSetting(6, 'all', 'forwarding', '1')] : []),
];
