/** Another node in a layer-3 network: its port on the transit switch and the routes to its subnets through it. */
import { addressOf, type Cidr, cidrFamily } from '../../../net/cidr.ts';
import { macFromIp } from '../../../net/mac.ts';
import { type DesiredFragment, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import type { NetworkFact, NodeFact } from '../../model/facts.ts';
import { clusterRouterName, transitSwitchName, transitToRouterPortName } from '../../model/names.ts';
import { transitPortKey } from '../../model/registry/tunnel-keys.ts';
import { routerKey, staticRouteKey, switchKey, switchPortKey } from '../../model/row-keys.ts';
import { merge } from '../merge.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

/** Nothing until the node has an id, a chassis and transit addresses. */
export const remoteNode = (network: NetworkFact, node: NodeFact, subnets: readonly Cidr[]): Northbound => {
  const [first] = node.transitAddresses;
  if (first === undefined || node.id === undefined || node.chassisId === undefined) return {};
  const name = transitToRouterPortName(network.name, node.name);
  const port: Northbound = {
    rows: [
      {
        table: 'Logical_Switch_Port',
        key: switchPortKey(name),
        columns: {
          name,
          type: 'remote',
          addresses: [[macFromIp(addressOf(first)), ...node.transitAddresses].join(' ')],
          options: { 'requested-tnl-key': String(transitPortKey(node.id)), 'requested-chassis': node.chassisId },
          external_ids: { node: node.name },
        },
      },
    ],
    members: [
      {
        table: 'Logical_Switch',
        row: switchKey(transitSwitchName(network.name)),
        column: 'ports',
        value: rowRef(switchPortKey(name)),
      },
    ],
  };
  return merge(port, ...subnets.map((subnet) => routeTo(network, node, subnet)));
};

const routeTo = (network: NetworkFact, node: NodeFact, subnet: Cidr): Northbound => {
  const nexthop = node.transitAddresses.find((address) => cidrFamily(address) === cidrFamily(subnet));
  if (nexthop === undefined) return {};
  const router = clusterRouterName(network.name);
  const key = staticRouteKey(router, subnet);
  return {
    rows: [
      {
        table: 'Logical_Router_Static_Route',
        key,
        columns: {
          ip_prefix: subnet,
          nexthop: addressOf(nexthop),
          external_ids: { 'ic-node': node.name, 'k8s.ovn.org/network': network.name },
        },
      },
    ],
    members: [{ table: 'Logical_Router', row: routerKey(router), column: 'static_routes', value: rowRef(key) }],
  };
};
