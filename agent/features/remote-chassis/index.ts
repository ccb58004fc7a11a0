/**
 * The other nodes' chassis, written into this zone's southbound database: ovn-controller makes tunnels to them. Its own
 * chassis it registers itself.
 */
import { type DesiredRow, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnSouthbound } from '../../../ovsdb/models/ovn-southbound.gen.ts';
import type { NodeFact } from '../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { chassisKey, encapKey } from '../../model/row-keys.ts';

export const remoteChassis: FeatureOver<'node'> = {
  name: 'remote-chassis',
  over: 'node',
  render: ({ node: name }, view) => {
    const node = name === view.node ? undefined : view.nodeFact(name);
    if (node?.chassisId === undefined || node.encapIps.length === 0) return EMPTY_FRAGMENT;
    return { southbound: { rows: chassisRows(node, node.chassisId) } };
  },
};

const chassisRows = (node: NodeFact, chassis: string): DesiredRow<OvnSouthbound>[] => [
  {
    table: 'Chassis',
    key: chassisKey(chassis),
    columns: {
      name: chassis,
      hostname: node.name,
      encaps: node.encapIps.map((ip) => rowRef(encapKey('geneve', ip))),
      other_config: { 'is-remote': 'true' },
    },
  },
  ...node.encapIps.map(
    (ip): DesiredRow<OvnSouthbound> => ({
      table: 'Encap',
      key: encapKey('geneve', ip),
      columns: { type: 'geneve', ip, chassis_name: chassis, options: { csum: 'true' } },
    }),
  ),
];
