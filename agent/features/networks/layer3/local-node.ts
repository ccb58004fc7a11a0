/** This node's part of a layer-3 network: its switch, the gateway of its pods, and the way to the transit switch. */

import { ARP_PROXY_MAC, gatewayAddress, gatewayMac } from '../../../../api/network.ts';
import { addressOf, type Cidr } from '../../../../net/cidr.ts';
import { macFromIp } from '../../../../net/mac.ts';
import { type DesiredFragment, rowRef } from '../../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import type { NetworkFact, NodeFact } from '../../../model/facts.ts';
import {
  clusterRouterName,
  gatewayChassisName,
  nodeSwitchName,
  routerToSwitchPortName,
  routerToTransitPortName,
  switchToRouterPortName,
  transitSwitchName,
  transitToRouterPortName,
} from '../../../model/names.ts';
import { transitPortKey } from '../../../model/registry/tunnel-keys.ts';
import { gatewayChassisKey, switchKey } from '../../../model/row-keys.ts';
import type { View } from '../../../model/view.ts';
import { gatewayMtu } from '../../shared/local-network.ts';
import { portConnections } from '../../shared/ovn/connection-limit.ts';
import { networkAndRoleIds } from '../../shared/ovn/external-ids.ts';
import { merge } from '../../shared/ovn/merge.ts';
import { portOfRouter, switchPort } from '../../shared/ovn/port-rows.ts';
import { switchSubnets } from '../../shared/ovn/switch-subnets.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

/** @param subnets of this node, at least one */
export const localNode = (network: NetworkFact, node: NodeFact, subnets: readonly Cidr[], view: View): Northbound =>
  merge(nodeSwitch(network, node, subnets, view), gatewayPort(network, node, subnets), transitLink(network, node));

const nodeSwitch = (network: NetworkFact, node: NodeFact, subnets: readonly Cidr[], view: View): Northbound => {
  const name = nodeSwitchName(network.name, node.name);
  return {
    rows: [
      {
        table: 'Logical_Switch',
        key: switchKey(name),
        columns: {
          name,
          other_config: switchSubnets(subnets),
          external_ids: { ...networkAndRoleIds(network), ...portConnections(network, view) },
        },
      },
    ],
  };
};

const gatewayPort = (network: NetworkFact, node: NodeFact, subnets: readonly Cidr[]): Northbound => {
  const routerPort = routerToSwitchPortName(network.name, node.name);
  const gatewayChassis = node.chassisId === undefined ? [] : [gatewayChassisName(routerPort, node.chassisId)];
  return merge(
    portOfRouter(clusterRouterName(network.name), {
      name: routerPort,
      mac: gatewayMac(network, subnets) ?? '',
      networks: subnets.map((subnet) => gatewayAddress(network, subnet)),
      options: gatewayMtu(network, node),
      gateway_chassis: gatewayChassis.map((name) => rowRef(gatewayChassisKey(name))),
    }),
    {
      rows: gatewayChassis.map((name) => ({
        table: 'Gateway_Chassis' as const,
        key: gatewayChassisKey(name),
        columns: { name, chassis_name: node.chassisId ?? '', priority: 1 },
      })),
    },
    switchPort(nodeSwitchName(network.name, node.name), {
      name: switchToRouterPortName(network.name, node.name),
      type: 'router',
      addresses: ['router'],
      options: { 'router-port': routerPort, ...arpProxy(network) },
    }),
  );
};

/**
 * The switch answers for a gateway that is the same on every node, and for the addresses of pods elsewhere: a virtual
 * machine that has moved here goes on with what it knows. ovn-nb(5), Logical_Switch_Port, `arp_proxy`.
 */
const arpProxy = ({ role, subnets }: NetworkFact): Record<string, string> =>
  role === 'default' ? { arp_proxy: [...ARP_PROXY, ...subnets.map(({ cidr }) => cidr)].join(' ') } : {};

const ARP_PROXY = [ARP_PROXY_MAC, '169.254.1.1', 'fe80::1'];

/** Nothing until the cluster manager has given the node its id and its transit addresses. */
const transitLink = (network: NetworkFact, node: NodeFact): Northbound => {
  const [first] = node.transitAddresses;
  if (first === undefined || node.id === undefined) return {};
  const routerPort = routerToTransitPortName(network.name, node.name);
  return merge(
    portOfRouter(clusterRouterName(network.name), {
      name: routerPort,
      mac: macFromIp(addressOf(first)),
      networks: node.transitAddresses,
      options: { mcast_flood: 'true' },
    }),
    switchPort(transitSwitchName(network.name), {
      name: transitToRouterPortName(network.name, node.name),
      type: 'router',
      addresses: ['router'],
      options: { 'router-port': routerPort, 'requested-tnl-key': String(transitPortKey(node.id)) },
      external_ids: { node: node.name },
    }),
  );
};
