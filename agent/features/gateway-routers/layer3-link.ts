/** From a layer-3 network's cluster router to its gateway router: both are on the join switch. */
import { hostPortSubnet } from '../../../api/cluster-config.ts';
import { routerJoinAddresses } from '../../../api/network-keys.ts';
import { addressOf, cidrFamily, type InterfaceAddress } from '../../../net/cidr.ts';
import { macFromIp } from '../../../net/mac.ts';
import type { DesiredFragment } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import {
  clusterRouterName,
  joinSwitchName,
  joinToRouterPortName,
  nodeSwitchName,
  routerToJoinPortName,
  routerToSwitchPortName,
} from '../../model/names.ts';
import { switchKey } from '../../model/row-keys.ts';
import type { View } from '../../model/view.ts';
import { gatewayMtu } from '../shared/local-network.ts';
import type { GatewaySite } from '../shared/ovn/gateway-site.ts';
import { merge } from '../shared/ovn/merge.ts';
import { portToRouter, routerPort } from '../shared/ovn/port-rows.ts';
import { hostPortPolicy, staticRoute } from '../shared/ovn/router-rows.ts';
import { nodeAddressPolicies, routesOut, routesToHost } from './distributed-router.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

export const layer3Link = (site: GatewaySite, view: View): Northbound => {
  const { network, node, joinAddresses } = site;
  const way = {
    router: clusterRouterName(network.name),
    nextHops: joinAddresses.map(addressOf),
    inport: routerToSwitchPortName(network.name, node.name),
    comment: nodeSwitchName(network.name, node.name),
  };
  return merge(
    joinSwitch(site),
    clusterRouterEnd(site),
    gatewayRouterEnd(site),
    ...routesIn(site),
    ...joinAddresses
      .map(addressOf)
      .map((ip) => staticRoute(way.router, { prefix: ip, nexthop: ip, externalIds: site.externalIds })),
    ...routesOut(site, way),
    ...routesToHost(site, way, view.cluster),
    hostPortPolicy(way.router, way.inport, view.cluster.masqueradeSubnets.map(hostPortSubnet)),
    ...nodeAddressPolicies(site, way, destinations(site, view)),
  );
};

const joinSwitch = ({ network, externalIds }: GatewaySite): Northbound => {
  const name = joinSwitchName(network.name);
  return {
    rows: [{ table: 'Logical_Switch', key: switchKey(name), columns: { name, external_ids: externalIds } }],
  };
};

const clusterRouterEnd = ({ network, joinSubnets, externalIds }: GatewaySite): Northbound => {
  const router = clusterRouterName(network.name);
  return merge(
    joinPort(router, routerJoinAddresses(joinSubnets), { externalIds }),
    portToRouter(joinSwitchName(network.name), joinToRouterPortName(router), routerToJoinPortName(router)),
  );
};

const gatewayRouterEnd = ({ network, node, router, joinAddresses, externalIds }: GatewaySite): Northbound =>
  merge(
    joinPort(router, joinAddresses, { options: gatewayMtu(network, node), externalIds }),
    portToRouter(joinSwitchName(network.name), joinToRouterPortName(router), routerToJoinPortName(router), externalIds),
  );

const joinPort = (
  router: string,
  networks: readonly InterfaceAddress[],
  rest: { readonly options?: Record<string, string>; readonly externalIds: GatewaySite['externalIds'] },
): Northbound => {
  const [first] = networks;
  if (first === undefined) return {};
  return routerPort(router, {
    name: routerToJoinPortName(router),
    mac: macFromIp(addressOf(first)),
    networks,
    ...rest,
  });
};

/** What comes from outside goes to the cluster router, which knows the nodes' parts. */
const routesIn = ({ network, router, joinSubnets, externalIds }: GatewaySite): Northbound[] =>
  network.subnets.flatMap(({ cidr }) => {
    const hop = routerJoinAddresses(joinSubnets).find((address) => cidrFamily(address) === cidrFamily(cidr));
    return hop === undefined ? [] : [staticRoute(router, { prefix: cidr, nexthop: addressOf(hop), externalIds })];
  });

/**
 * In local gateway mode what a pod sends to any address of the node arrives at the management port anyway; in shared mode
 * the default network needs a policy for each. User-defined networks reach other addresses of the node from outside.
 */
const destinations = ({ network, node, gateway, nodeAddresses, masqueradeAddresses }: GatewaySite, view: View) => {
  const gatewayAddresses = nodeAddresses.map(addressOf);
  if (network.role !== 'default') return [...gatewayAddresses, ...masqueradeAddresses];
  const others = gateway.mode === 'shared' ? view.hostAddresses(node.name).map(addressOf) : [];
  return [...new Set([...gatewayAddresses, ...others])];
};
