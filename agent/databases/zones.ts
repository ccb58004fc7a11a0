/** The conntrack zones of this node: ovn-controller numbers them by name, and ovs-vswitchd limits them by number. */
import { type OpenVSwitch, openVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import { Replica } from '../../ovsdb/replica/replica.ts';

const TABLES = {
  Open_vSwitch: ['datapaths'],
  Bridge: ['name', 'datapath_type', 'external_ids'],
  Datapath: ['ct_zones'],
  CT_Zone: ['limit', 'external_ids'],
} as const;

export type ZoneReplica = Replica<OpenVSwitch, typeof TABLES>;

/** Apart from the replica of what is kept as desired: `external_ids` of the bridge change with every port. */
export const createZoneReplica = (): ZoneReplica =>
  new Replica<OpenVSwitch, typeof TABLES>({ model: openVSwitch, tables: TABLES });
