/** A network's VRF: what comes from its pods into the host is routed by a table of its own. */
import { MASQUERADE_OFFSETS } from '../../../api/cluster-config.ts';
import { networkMasqueradeAddresses } from '../../../api/masquerade.ts';
import { gatewayIp, networkFamilies } from '../../../api/network.ts';
import type { HostItem } from '../../../datapath/host/types.ts';
import { addressAt, type Cidr, cidrFamily, defaultRoute, hostRoute } from '../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { GatewayFact } from '../../model/facts.ts';
import { managementLinkName, vrfName } from '../../model/host-names.ts';
import { networkPacketMark } from '../../model/registry/marks.ts';
import { RULE_PRIORITIES, UNREACHABLE_METRIC, vrfTable } from '../../model/registry/routing.ts';
import type { View } from '../../model/view.ts';
import { type BridgeFamily, bridgeFamilies } from '../shared/bridge/site.ts';
import type { RoutedNetwork } from '../shared/local-network.ts';
import { dummyNextHop } from './default-network.ts';
import { fixedNeighbour, routeItem, ruleItem } from './items.ts';
import { managementLink } from './management-link.ts';

/** Undefined when the masquerade subnets have no addresses for the network, which `management-ports` reports. */
export const tenantItems = (local: RoutedNetwork, view: View): HostItem[] | undefined => {
  const { network } = local;
  const gateway = view.gateway(view.node);
  const families = networkFamilies(network);
  const ofNetwork = (ip: Ip): boolean => families.includes(ipFamily(ip));
  const management = networkMasqueradeAddresses(view.cluster, network.id, 'management')?.filter(ofNetwork);
  const own = networkMasqueradeAddresses(view.cluster, network.id, 'gateway')?.filter(ofNetwork);
  if (management === undefined || own === undefined) return undefined;
  const name = vrfName(network.name, network.id, gateway);
  return [
    { kind: 'link', link: { kind: 'vrf', name, table: vrfTable(network.id) } },
    ...managementLink(local, name),
    ...insideRoutes(local, management, view.cluster.masqueradeSubnets),
    ...(gateway === undefined ? [] : outsideItems(local, gateway, own, view)),
    ...rules(local, management),
  ];
};

/** To the outside and to services, by the gateway bridge. */
const outsideItems = ({ network }: RoutedNetwork, gateway: GatewayFact, own: readonly Ip[], view: View): HostItem[] => {
  const families = networkFamilies(network);
  const inBridge = bridgeFamilies(gateway, view.cluster).filter(({ family }) => families.includes(family));
  const common = { table: vrfTable(network.id), dev: gateway.bridge, mtu: network.mtu };
  return inBridge.flatMap((family): HostItem[] => [
    ...family.serviceSubnets.map((dst) => routeItem({ ...common, dst, via: dummyNextHop(family), src: family.hostIp })),
    ...nextHops(gateway, family).map((via) => routeItem({ ...common, dst: defaultRoute(family.family), via })),
    ...own.filter((ip) => ipFamily(ip) === family.family).map((ip) => fixedNeighbour(gateway.bridge, ip)),
  ]);
};

/** The first of each family: a table has one route of a metric to a destination. */
const nextHops = ({ nextHops: all }: GatewayFact, { family }: BridgeFamily): Ip[] =>
  all.filter((ip) => ipFamily(ip) === family).slice(0, 1);

/** To pods, by the management port; and nowhere else, in particular not on by the host's own routes. */
const insideRoutes = (
  { network, subnets }: RoutedNetwork,
  management: readonly Ip[],
  masqueradeSubnets: readonly Cidr[],
): HostItem[] => {
  const dev = managementLinkName(network.id);
  const table = vrfTable(network.id);
  return [
    ...management.map((ip) => routeItem({ table, dst: hostRoute(ip), dev, mtu: network.mtu })),
    ...subnets.flatMap((subnet) => {
      const isFamily = (cidr: Cidr): boolean => cidrFamily(cidr) === cidrFamily(subnet);
      const toPods = network.topology === 'layer3' ? network.subnets.map(({ cidr }) => cidr) : [];
      const toEndpoints = masqueradeSubnets.map((cidr) => hostRoute(addressAt(cidr, MASQUERADE_OFFSETS.hostEtpLocal)));
      return [...toEndpoints, ...toPods]
        .filter(isFamily)
        .map((dst) => routeItem({ table, dst, via: gatewayIp(network, subnet), dev }));
    }),
    ...networkFamilies(network).map((family) =>
      routeItem({ table, dst: defaultRoute(family), type: 'unreachable', metric: UNREACHABLE_METRIC }),
    ),
  ];
};

/** Packets with the network's mark, and replies to what its pods have sent as the masquerade address. */
const rules = ({ network }: RoutedNetwork, management: readonly Ip[]): HostItem[] => {
  const common = { priority: RULE_PRIORITIES.network, table: vrfTable(network.id) };
  return management.flatMap((ip) => [
    ruleItem({ ...common, family: ipFamily(ip), fwmark: networkPacketMark(network.id) }),
    ruleItem({ ...common, family: ipFamily(ip), to: hostRoute(ip) }),
  ]);
};
