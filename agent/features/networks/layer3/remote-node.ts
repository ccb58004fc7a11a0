/**
 * Another node in a layer-3 network: its port on the transit switch, and the routes through it to the node's subnets and to
 * its gateway router, which answers for what left the network there.
 */
import { nodeJoinAddresses } from '../../../../api/network-keys.ts';
import { addressOf, type Cidr, cidrFamily, hostRoute } from '../../../../net/cidr.ts';
import { macFromIp } from '../../../../net/mac.ts';
import type { DesiredFragment } from '../../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import type { NetworkFact, NodeFact } from '../../../model/facts.ts';
import { clusterRouterName, transitSwitchName, transitToRouterPortName } from '../../../model/names.ts';
import { transitPortKey } from '../../../model/registry/tunnel-keys.ts';
import { ofNetworkFamilies } from '../../shared/local-network.ts';
import { merge } from '../../shared/ovn/merge.ts';
import { switchPort } from '../../shared/ovn/port-rows.ts';
import { staticRoute } from '../../shared/ovn/router-rows.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

/** Nothing until the node has an id, a chassis and transit addresses. */
export const remoteNode = (network: NetworkFact, node: NodeFact, subnets: readonly Cidr[]): Northbound => {
  const [first] = node.transitAddresses;
  if (first === undefined || node.id === undefined || node.chassisId === undefined) return {};
  const port = switchPort(transitSwitchName(network.name), {
    name: transitToRouterPortName(network.name, node.name),
    type: 'remote',
    addresses: [[macFromIp(addressOf(first)), ...node.transitAddresses].join(' ')],
    options: { 'requested-tnl-key': String(transitPortKey(node.id)), 'requested-chassis': node.chassisId },
    external_ids: { node: node.name },
  });
  return merge(port, ...[...subnets, ...joinRoutes(network, node)].map((prefix) => routeTo(network, node, prefix)));
};

const joinRoutes = (network: NetworkFact, { id }: NodeFact): Cidr[] => {
  const subnets = ofNetworkFamilies(network, network.joinSubnets);
  const addresses = id === undefined ? undefined : nodeJoinAddresses(subnets, id);
  return (addresses ?? []).map((address) => hostRoute(addressOf(address)));
};

const routeTo = (network: NetworkFact, node: NodeFact, prefix: Cidr): Northbound => {
  const nexthop = node.transitAddresses.find((address) => cidrFamily(address) === cidrFamily(prefix));
  if (nexthop === undefined) return {};
  return staticRoute(clusterRouterName(network.name), {
    prefix,
    nexthop: addressOf(nexthop),
    externalIds: { 'ic-node': node.name, 'k8s.ovn.org/network': network.name },
  });
};
