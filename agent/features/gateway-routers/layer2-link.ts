/** From a layer-2 network's transit router to its gateway router on this node: a link of their own without a switch. */
import { hostPortSubnet } from '../../../api/cluster-config.ts';
import { addressOf, cidrFamily } from '../../../net/cidr.ts';
import { macFromIp } from '../../../net/mac.ts';
import type { DesiredFragment } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import {
  layer2SwitchName,
  routerToTransitRouterPortName,
  transitRouterName,
  transitRouterToRouterPortName,
  transitRouterToSwitchPortName,
} from '../../model/names.ts';
import { transitRouterPortKey } from '../../model/registry/tunnel-keys.ts';
import type { View } from '../../model/view.ts';
import { gatewayMtu } from '../shared/local-network.ts';
import type { GatewaySite } from '../shared/ovn/gateway-site.ts';
import { merge } from '../shared/ovn/merge.ts';
import { routerPort } from '../shared/ovn/port-rows.ts';
import { hostPortPolicy, staticRoute } from '../shared/ovn/router-rows.ts';
import { nodeAddressPolicies, routesOut, routesToHost } from './distributed-router.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

export const layer2Link = (site: GatewaySite, { cluster }: Pick<View, 'cluster'>): Northbound => {
  const { network, links, nodeAddresses } = site;
  const way = {
    router: transitRouterName(network.name),
    nextHops: links.map(({ gatewayRouter }) => addressOf(gatewayRouter)),
    inport: transitRouterToSwitchPortName(network.name),
    comment: layer2SwitchName(network.name),
  };
  return merge(
    transitRouterEnd(site),
    gatewayRouterEnd(site),
    ...routesIn(site),
    ...routesToJoinAddresses(site),
    ...routesOut(site, way),
    ...routesToHost(site, way, cluster),
    hostPortPolicy(way.router, way.inport, cluster.masqueradeSubnets.map(hostPortSubnet)),
    ...nodeAddressPolicies(site, way, nodeAddresses.map(addressOf)),
  );
};

const transitRouterEnd = ({ network, node, router, links, externalIds }: GatewaySite): Northbound => {
  const networks = links.map(({ transitRouter }) => transitRouter);
  const [first] = networks;
  if (first === undefined) return {};
  return routerPort(transitRouterName(network.name), {
    name: transitRouterToRouterPortName(router),
    mac: macFromIp(addressOf(first)),
    networks,
    options: { 'requested-tnl-key': String(transitRouterPortKey(node.id)) },
    peer: routerToTransitRouterPortName(router),
    externalIds,
  });
};

const gatewayRouterEnd = ({ network, node, router, joinAddresses, links, externalIds }: GatewaySite): Northbound => {
  const networks = [...joinAddresses, ...links.map(({ gatewayRouter }) => gatewayRouter)];
  const [first] = networks;
  if (first === undefined) return {};
  return routerPort(router, {
    name: routerToTransitRouterPortName(router),
    mac: macFromIp(addressOf(first)),
    networks,
    options: gatewayMtu(network, node),
    peer: transitRouterToRouterPortName(router),
    externalIds,
  });
};

const routesIn = ({ network, router, links, externalIds }: GatewaySite): Northbound[] =>
  network.subnets.flatMap(({ cidr }) => {
    const link = links.find(({ transitRouter }) => cidrFamily(transitRouter) === cidrFamily(cidr));
    if (link === undefined) return [];
    const outputPort = routerToTransitRouterPortName(router);
    return [staticRoute(router, { prefix: cidr, nexthop: addressOf(link.transitRouter), outputPort, externalIds })];
  });

const routesToJoinAddresses = ({ network, joinAddresses, links, externalIds }: GatewaySite): Northbound[] =>
  joinAddresses.flatMap((join) => {
    const link = links.find(({ gatewayRouter }) => cidrFamily(gatewayRouter) === cidrFamily(join));
    if (link === undefined) return [];
    const nexthop = addressOf(link.gatewayRouter);
    return [staticRoute(transitRouterName(network.name), { prefix: addressOf(join), nexthop, externalIds })];
  });
