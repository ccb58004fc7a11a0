/** The switch of a layer-2 network, which all pods of all nodes are on. */
import type { DatapathKey } from '../../../../net/ids.ts';
import { type DesiredFragment, rowRef } from '../../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import type { NetworkFact } from '../../../model/facts.ts';
import { DHCP_COPP_NAME, layer2SwitchName } from '../../../model/names.ts';
import { coppKey, switchKey } from '../../../model/row-keys.ts';
import type { View } from '../../../model/view.ts';
import { portConnections } from '../../shared/ovn/connection-limit.ts';
import { networkAndRoleIds } from '../../shared/ovn/external-ids.ts';
import { switchSubnets } from '../../shared/ovn/switch-subnets.ts';

export const sharedSwitch = (network: NetworkFact, key: DatapathKey, view: View): DesiredFragment<OvnNorthbound> => {
  const name = layer2SwitchName(network.name);
  return {
    rows: [
      {
        table: 'Logical_Switch',
        key: switchKey(name),
        columns: {
          name,
          other_config: {
            ...switchSubnets(network.subnets.map(({ cidr }) => cidr)),
            'interconn-ts': name,
            'requested-tnl-key': String(key),
            mcast_snoop: 'true',
            mcast_querier: 'false',
            mcast_flood_unregistered: 'true',
          },
          external_ids: { ...networkAndRoleIds(network), ...portConnections(network, view) },
          copp: rowRef(coppKey(DHCP_COPP_NAME)),
        },
      },
    ],
  };
};
