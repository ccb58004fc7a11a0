/** Between a gateway router and the gateway bridge: a switch with one port to each. */
import { masqueradeAddresses } from '../../../api/cluster-config.ts';
import { cidrFamily, hostRoute, interfaceAddress, prefixLength } from '../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import { macFromIp } from '../../../net/mac.ts';
import type { DesiredFragment } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import {
  externalBridgePortName,
  externalSwitchName,
  externalToRouterPortName,
  routerToExternalPortName,
} from '../../model/names.ts';
import { staticMacBindingKey, switchKey } from '../../model/row-keys.ts';
import type { View } from '../../model/view.ts';
import { networkAndRoleIds } from '../shared/ovn/external-ids.ts';
import type { GatewaySite } from '../shared/ovn/gateway-site.ts';
import { merge } from '../shared/ovn/merge.ts';
import { routerPort, switchPort, vlanTag } from '../shared/ovn/port-rows.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

/** Of `ovn-bridge-mappings`: one bridge serves all networks. */
export const PHYSICAL_NETWORK = 'physnet';

export const externalSwitch = (site: GatewaySite, { cluster }: Pick<View, 'cluster'>): Northbound =>
  merge(switchRow(site), portToBridge(site), externalPort(site), ...macBindings(site, cluster));

const switchRow = ({ network, node }: GatewaySite): Northbound => {
  const name = externalSwitchName(network.name, node.name);
  return {
    rows: [
      {
        table: 'Logical_Switch',
        key: switchKey(name),
        columns: { name, external_ids: networkAndRoleIds(network) },
      },
    ],
  };
};

const portToBridge = ({ network, node, gateway, externalIds }: GatewaySite): Northbound =>
  switchPort(externalSwitchName(network.name, node.name), {
    name: externalBridgePortName(gateway.bridge, network.name, node.name),
    type: 'localnet',
    addresses: ['unknown'],
    options: { network_name: PHYSICAL_NETWORK },
    ...vlanTag(gateway.vlanId === 0 ? undefined : gateway.vlanId),
    external_ids: externalIds,
  });

const externalPort = (site: GatewaySite): Northbound => {
  const { network, node, gateway, router, externalIds, nodeAddresses, masqueradeAddresses: masquerade } = site;
  const isDefault = network.role === 'default';
  const name = routerToExternalPortName(router);
  return merge(
    routerPort(router, {
      name,
      mac: gateway.mac,
      networks: [...nodeAddresses, ...masquerade.map((ip) => interfaceAddress(ip, prefixLength(hostRoute(ip))))],
      externalIds: isDefault ? { 'gateway-physical-ip': 'yes' } : externalIds,
    }),
    switchPort(externalSwitchName(network.name, node.name), {
      name: externalToRouterPortName(router),
      type: 'router',
      addresses: [gateway.mac],
      options: {
        'router-port': name,
        ...(isDefault && { 'nat-addresses': 'router', 'exclude-lb-vips-from-garp': 'true' }),
      },
      external_ids: externalIds,
    }),
  );
};

/**
 * MACs of neighbours that do not answer for themselves: of the next hop of answers, and on user-defined networks of the
 * host, which reaches them from its masquerade address.
 */
const macBindings = ({ network, router, nodeAddresses }: GatewaySite, cluster: View['cluster']): Northbound[] =>
  [
    ...masqueradeAddresses(cluster, 'dummyNextHop'),
    ...(network.role === 'default' ? [] : masqueradeAddresses(cluster, 'host')),
  ]
    .filter((ip) => nodeAddresses.some((address) => cidrFamily(address) === ipFamily(ip)))
    .map((ip) => macBinding(routerToExternalPortName(router), ip));

const macBinding = (port: string, ip: Ip): Northbound => ({
  rows: [
    {
      table: 'Static_MAC_Binding',
      key: staticMacBindingKey(port, ip),
      columns: { logical_port: port, ip, mac: macFromIp(ip), override_dynamic_mac: true },
    },
  ],
});
