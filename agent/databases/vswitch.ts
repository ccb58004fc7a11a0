/** What the agent mirrors of the local Open_vSwitch database: few columns, none that change by themselves. */
import { ownerIndexes } from '../../ovsdb/desired/replica-needs.ts';
import { type OpenVSwitch, openVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import { Replica } from '../../ovsdb/replica/replica.ts';
import { OWNER_KEY } from '../model/ownership.ts';

/**
 * Not `Bridge.external_ids`, which ovn-controller writes for every port, and not `Interface.statistics`, which
 * ovs-vswitchd writes every five seconds.
 */
const TABLES = {
  Open_vSwitch: ['external_ids', 'other_config', 'datapaths', 'ovs_version'],
  Bridge: ['name', 'ports', 'datapath_type'],
  Port: ['name', 'interfaces', 'external_ids'],
  Interface: ['name', 'external_ids', 'error', 'ofport', 'type', 'mac', 'mtu_request'],
  Datapath: ['capabilities'],
} as const;

export type VswitchReplica = Replica<OpenVSwitch, typeof TABLES>;

export const INTERFACE_BY_SANDBOX = 'sandbox';
export const INTERFACE_BY_LOGICAL_PORT = 'logical-port';
export const INTERFACE_BY_NAME = 'name';

export const createVswitchReplica = (): VswitchReplica => {
  const owners = ownerIndexes(openVSwitch, TABLES, OWNER_KEY);
  return new Replica<OpenVSwitch, typeof TABLES>({
    model: openVSwitch,
    tables: TABLES,
    trackParents: true,
    indexes: {
      ...owners,
      Interface: {
        ...owners.Interface,
        [INTERFACE_BY_SANDBOX]: ({ external_ids: ids }) => ids['sandbox'],
        [INTERFACE_BY_LOGICAL_PORT]: ({ external_ids: ids }) => ids['iface-id'],
        [INTERFACE_BY_NAME]: ({ name }) => name,
      },
    },
  });
};
