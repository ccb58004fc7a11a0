/** What the agent mirrors of its zone's southbound database: the chassis, its own and those it writes. */
import { ownerIndexes } from '../../ovsdb/desired/replica-needs.ts';
import { type OvnSouthbound, ovnSouthbound } from '../../ovsdb/models/ovn-southbound.gen.ts';
import { Replica } from '../../ovsdb/replica/replica.ts';
import { OWNER_KEY } from '../model/ownership.ts';

const TABLES = {
  Chassis: ['encaps', 'external_ids', 'hostname', 'name', 'other_config'],
  Encap: ['chassis_name', 'ip', 'options', 'type'],
} as const;

export type SouthboundReplica = Replica<OvnSouthbound, typeof TABLES>;

export const createSouthboundReplica = (): SouthboundReplica =>
  new Replica<OvnSouthbound, typeof TABLES>({
    model: ovnSouthbound,
    tables: TABLES,
    trackParents: true,
    indexes: ownerIndexes(ovnSouthbound, TABLES, OWNER_KEY),
  });
