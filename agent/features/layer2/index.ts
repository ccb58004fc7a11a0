/**
 * Primary layer-2 networks: one switch that spans all zones, with a remote port for every pod of another node. The key of
 * the switch is the same in every zone, so that a packet in the tunnel finds it.
 */
import type { NetworkFact } from '../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver, type Fragment } from '../../model/fragment.ts';
import { layer2SwitchName } from '../../model/names.ts';
import { switchKey } from '../../model/row-keys.ts';
import { networkAndRoleIds } from '../external-ids.ts';
import { switchSubnets } from '../switch-subnets.ts';

export const layer2Network: FeatureOver<'network'> = {
  name: 'layer2',
  over: 'network',
  render: ({ network }, view) => {
    const fact = view.network(network);
    if (fact?.topology !== 'layer2' || fact.role !== 'primary') return EMPTY_FRAGMENT;
    const [tunnelKey] = fact.tunnelKeys;
    return tunnelKey === undefined ? EMPTY_FRAGMENT : sharedSwitch(fact, tunnelKey);
  },
};

const sharedSwitch = (network: NetworkFact, tunnelKey: number): Fragment => {
  const name = layer2SwitchName(network.name);
  return {
    northbound: {
      rows: [
        {
          table: 'Logical_Switch',
          key: switchKey(name),
          columns: {
            name,
            other_config: {
              ...switchSubnets(network.subnets.map(({ cidr }) => cidr)),
              'interconn-ts': name,
              'requested-tnl-key': String(tunnelKey),
              mcast_snoop: 'true',
              mcast_querier: 'false',
              mcast_flood_unregistered: 'true',
            },
            external_ids: networkAndRoleIds(network),
          },
        },
      ],
    },
  };
};
