/**
 * A layer-3 network in this node's OVN zone: the cluster router and the transit switch that joins it with the other
 * zones' cluster routers. The default network is one, too.
 */

import { networkDatapathKey } from '../../../../api/network-keys.ts';
import { type DesiredFragment, rowRef } from '../../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import type { GatewayFact, NetworkFact } from '../../../model/facts.ts';
import { COPP_NAME, clusterRouterName, transitSwitchName } from '../../../model/names.ts';
import { coppKey, routerKey, switchKey } from '../../../model/row-keys.ts';
import type { View } from '../../../model/view.ts';
import { commitAll } from '../../shared/ovn/commit-all.ts';
import { routerConnections } from '../../shared/ovn/connection-limit.ts';
import { networkAndRoleIds, networkIds } from '../../shared/ovn/external-ids.ts';

export const layer3Zone = (
  network: NetworkFact,
  mode: GatewayFact['mode'] | undefined,
  view: View,
): DesiredFragment<OvnNorthbound> => {
  const router = clusterRouterName(network.name);
  const transit = transitSwitchName(network.name);
  return {
    rows: [
      {
        table: 'Logical_Router',
        key: routerKey(router),
        columns: {
          name: router,
          // Every ARP request would otherwise become a MAC binding, learned by all and aged by none.
          options: {
            always_learn_from_arp_request: 'false',
            ...commitAll(network, mode),
          },
          external_ids: { 'k8s-cluster-router': 'yes', ...networkIds(network), ...routerConnections(network, view) },
          copp: rowRef(coppKey(COPP_NAME)),
        },
      },
      {
        table: 'Logical_Switch',
        key: switchKey(transit),
        columns: {
          name: transit,
          other_config: {
            'interconn-ts': transit,
            'requested-tnl-key': String(networkDatapathKey(network.id)),
            mcast_snoop: 'true',
            mcast_querier: 'false',
            mcast_flood_unregistered: 'true',
          },
          external_ids: networkAndRoleIds(network),
        },
      },
    ],
  };
};
