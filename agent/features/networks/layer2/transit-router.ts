/** The router of a layer-2 network and its link to the switch. It answers as the same gateway on every node. */
import { gatewayAddress, gatewayMac } from '../../../../api/network.ts';
import { type Cidr, cidrFamily } from '../../../../net/cidr.ts';
import type { DatapathKey } from '../../../../net/ids.ts';
import { type DesiredFragment, type DesiredRow, rowRef } from '../../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import type { GatewayFact, NodeFact, RoutedNetworkFact } from '../../../model/facts.ts';
import {
  COPP_NAME,
  gatewayChassisName,
  layer2SwitchName,
  switchToTransitRouterPortName,
  transitRouterName,
  transitRouterToSwitchPortName,
} from '../../../model/names.ts';
import { coppKey, gatewayChassisKey, routerKey } from '../../../model/row-keys.ts';
import type { View } from '../../../model/view.ts';
import { gatewayMtu } from '../../shared/local-network.ts';
import { commitAll } from '../../shared/ovn/commit-all.ts';
import { routerConnections } from '../../shared/ovn/connection-limit.ts';
import { networkIds } from '../../shared/ovn/external-ids.ts';
import { merge } from '../../shared/ovn/merge.ts';
import { portOfRouter, portToRouter } from '../../shared/ovn/port-rows.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

export interface TransitRouterInput {
  readonly network: RoutedNetworkFact;
  readonly key: DatapathKey;
  /** This one. */
  readonly node: NodeFact;
  readonly mode: GatewayFact['mode'] | undefined;
  readonly view: View;
}

export const transitRouter = (input: TransitRouterInput): Northbound => {
  const { network } = input;
  const linkEnds = [switchToTransitRouterPortName(network.name), transitRouterToSwitchPortName(network.name)] as const;
  return merge(
    routerRow(input),
    portToRouter(layer2SwitchName(network.name), ...linkEnds, networkIds(network)),
    portToSwitch(input),
  );
};

const routerRow = ({ network, key, mode, view }: TransitRouterInput): Northbound => {
  const name = transitRouterName(network.name);
  return {
    rows: [
      {
        table: 'Logical_Router',
        key: routerKey(name),
        columns: {
          name,
          options: {
            'requested-tnl-key': String(key),
            ...commitAll(network, mode),
          },
          external_ids: { 'k8s-cluster-router': 'yes', ...networkIds(network), ...routerConnections(network, view) },
          copp: rowRef(coppKey(COPP_NAME)),
        },
      },
    ],
  };
};

/**
 * Bound to this chassis: pods of this node are answered here, and nowhere else. No packet in a tunnel is for it, so it needs
 * no key that the zones agree on; northd would ask for the same one for its chassis-redirect port, and warn.
 */
const portToSwitch = ({ network, node }: TransitRouterInput): Northbound => {
  const name = transitRouterToSwitchPortName(network.name);
  const subnets = network.subnets.map(({ cidr }) => cidr);
  const chassis = chassisOfPort(name, node);
  return merge(
    portOfRouter(transitRouterName(network.name), {
      name,
      mac: gatewayMac(network, subnets) ?? '',
      networks: subnets.map((subnet) => gatewayAddress(network, subnet)),
      options: gatewayMtu(network, node),
      ipv6_ra_configs: advertisements(network, subnets),
      gateway_chassis: chassis.map(({ key }) => rowRef(key)),
    }),
    { rows: chassis },
  );
};

const chassisOfPort = (port: string, { chassisId }: NodeFact): DesiredRow<OvnNorthbound, 'Gateway_Chassis'>[] => {
  if (chassisId === undefined) return [];
  const name = gatewayChassisName(port, chassisId);
  return [
    {
      table: 'Gateway_Chassis',
      key: gatewayChassisKey(name),
      columns: { name, chassis_name: chassisId, priority: 1 },
    },
  ];
};

/**
 * Pods have their addresses already. What virtual machines get from router advertisements is a default route, of low
 * preference because every node sends them: a better one is given to them by other means. RFC 4191 section 2.1.
 */
const advertisements = ({ mtu }: RoutedNetworkFact, subnets: readonly Cidr[]): Record<string, string> =>
  subnets.some((subnet) => cidrFamily(subnet) === 6)
    ? {
        address_mode: 'dhcpv6_stateful',
        send_periodic: 'true',
        max_interval: '900',
        min_interval: '300',
        router_preference: 'LOW',
        mtu: String(mtu),
      }
    : {};
