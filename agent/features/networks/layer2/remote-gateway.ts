/** Another node's gateway router, as this node's transit router reaches it: packets for it go through the tunnel. */
import { nodeJoinAddresses, nodeLinkAddresses } from '../../../../api/network-keys.ts';
import { addressOf, cidrFamily } from '../../../../net/cidr.ts';
import { macFromIp } from '../../../../net/mac.ts';
import type { DesiredFragment } from '../../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import type { NodeFact, RoutedNetworkFact } from '../../../model/facts.ts';
import { gatewayRouterName, transitRouterName, transitRouterToRouterPortName } from '../../../model/names.ts';
import { transitRouterPortKey } from '../../../model/registry/tunnel-keys.ts';
import { ofNetworkFamilies } from '../../shared/local-network.ts';
import { networkIds } from '../../shared/ovn/external-ids.ts';
import { merge } from '../../shared/ovn/merge.ts';
import { routerPort } from '../../shared/ovn/port-rows.ts';
import { staticRoute } from '../../shared/ovn/router-rows.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

/** Nothing until the node has an id that fits, and a chassis. */
export const remoteGateway = (network: RoutedNetworkFact, { name, id, chassisId }: NodeFact): Northbound => {
  if (id === undefined || chassisId === undefined) return {};
  const links = nodeLinkAddresses(ofNetworkFamilies(network, network.transitSubnets), id) ?? [];
  const [first] = links;
  if (first === undefined) return {};
  const router = transitRouterName(network.name);
  const externalIds = { ...networkIds(network), node: name };
  const joinSubnets = ofNetworkFamilies(network, network.joinSubnets);
  const routes = (nodeJoinAddresses(joinSubnets, id) ?? []).flatMap((join) => {
    const link = links.find(({ gatewayRouter }) => cidrFamily(gatewayRouter) === cidrFamily(join));
    if (link === undefined) return [];
    return [staticRoute(router, { prefix: addressOf(join), nexthop: addressOf(link.gatewayRouter), externalIds })];
  });
  const port = routerPort(router, {
    name: transitRouterToRouterPortName(gatewayRouterName(network.name, name)),
    mac: macFromIp(addressOf(first.transitRouter)),
    networks: links.map(({ transitRouter }) => transitRouter),
    options: { 'requested-tnl-key': String(transitRouterPortKey(id)), 'requested-chassis': chassisId },
    externalIds,
  });
  return merge(port, ...routes);
};
