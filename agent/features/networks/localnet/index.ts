/**
 * Localnets: a switch with this node's pods, and a port that leads to the physical network of this node's bridge mapping. Other nodes'
 * pods are reached through that network, as its other hosts are: there are no keys, no tunnels and no routers.
 */
import type { DesiredFragment } from '../../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import { localnetPortName, localnetSwitchName } from '../../../model/names.ts';
import { unmappedNetwork } from '../../../model/physical-networks.ts';
import { switchKey } from '../../../model/row-keys.ts';
import type { View } from '../../../model/view.ts';
import { type LocalnetFact, localnetOf } from '../../shared/localnet.ts';
import { portConnections } from '../../shared/ovn/connection-limit.ts';
import { networkAndRoleIds, networkIds } from '../../shared/ovn/external-ids.ts';
import { merge } from '../../shared/ovn/merge.ts';
import { switchPort, vlanTag } from '../../shared/ovn/port-rows.ts';
import { switchSubnets } from '../../shared/ovn/switch-subnets.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

export const localnetNetwork: FeatureOver<'network'> = {
  name: 'localnet',
  over: 'network',
  render: ({ network: name }, view) => {
    const network = localnetOf(name, view);
    if (network === undefined) return EMPTY_FRAGMENT;
    // The rows stay while there is no mapping: when it is back, ovn-controller connects them without anything written here.
    const northbound = merge(switchRow(network, view), portRow(network));
    const { physical } = network;
    if (view.physicalBridge(physical.name) !== undefined) return { northbound };
    const message = unmappedNetwork(name, physical.name, view.node);
    const object = `Network/${name}`;
    return {
      northbound,
      diagnostics: [{ object, severity: 'warning', cause: 'physical-network-unmapped', message }],
    };
  },
};

const switchRow = (network: LocalnetFact, view: View): Northbound => {
  const name = localnetSwitchName(network.name);
  return {
    rows: [
      {
        table: 'Logical_Switch',
        key: switchKey(name),
        columns: {
          name,
          other_config: switchSubnets(network.subnets.map(({ cidr }) => cidr)),
          external_ids: { ...networkAndRoleIds(network), ...portConnections(network, view) },
        },
      },
    ],
  };
};

const portRow = (network: LocalnetFact): Northbound =>
  switchPort(localnetSwitchName(network.name), {
    name: localnetPortName(network.name),
    type: 'localnet',
    addresses: ['unknown'],
    options: { network_name: network.physical.name },
    ...vlanTag(network.physical.vlanId),
    external_ids: networkIds(network),
  });
