/** What the agent mirrors of its zone's northbound database: the tables and columns that its features write. */
import type { ClaimedRows } from '../../ovsdb/desired/garbage.ts';
import { ownerIndexes } from '../../ovsdb/desired/replica-needs.ts';
import { type OvnNorthbound, ovnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { Replica } from '../../ovsdb/replica/replica.ts';
import { isLoadBalancerGroupName } from '../model/names.ts';
import { isOurMacBinding, OWNER_KEY } from '../model/ownership.ts';

/** Not `Logical_Switch_Port.up` nor `NB_Global.nb_cfg`: northd writes them, and nothing here depends on them. */
const TABLES = {
  ACL: [
    'action',
    'direction',
    'external_ids',
    'match',
    'meter',
    'name',
    'options',
    'priority',
    'severity',
    'log',
    'tier',
  ],
  Address_Set: ['addresses', 'external_ids', 'name'],
  Copp: ['external_ids', 'meters', 'name'],
  DHCP_Options: ['cidr', 'external_ids', 'options'],
  Gateway_Chassis: ['chassis_name', 'external_ids', 'name', 'priority'],
  Load_Balancer: ['external_ids', 'name', 'options', 'protocol', 'selection_fields', 'vips'],
  Load_Balancer_Group: ['load_balancer', 'name'],
  Logical_Router: [
    'copp',
    'external_ids',
    'load_balancer',
    'load_balancer_group',
    'name',
    'nat',
    'options',
    'policies',
    'ports',
    'static_routes',
  ],
  Logical_Router_Policy: ['action', 'external_ids', 'match', 'nexthops', 'priority'],
  Logical_Router_Port: [
    'external_ids',
    'gateway_chassis',
    'ipv6_ra_configs',
    'mac',
    'name',
    'networks',
    'options',
    'peer',
  ],
  Logical_Router_Static_Route: ['external_ids', 'ip_prefix', 'nexthop', 'output_port', 'policy'],
  Logical_Switch: [
    'acls',
    'copp',
    'external_ids',
    'load_balancer',
    'load_balancer_group',
    'name',
    'other_config',
    'ports',
    'qos_rules',
  ],
  Logical_Switch_Port: [
    'addresses',
    'dhcpv4_options',
    'dhcpv6_options',
    'enabled',
    'external_ids',
    'name',
    'options',
    'port_security',
    'tag',
    'tag_request',
    'type',
  ],
  Meter: ['bands', 'external_ids', 'fair', 'name', 'unit'],
  Meter_Band: ['action', 'external_ids', 'rate'],
  NAT: ['external_ids', 'external_ip', 'external_port_range', 'logical_ip', 'logical_port', 'match', 'options', 'type'],
  NB_Global: ['ipsec', 'name', 'options'],
  Port_Group: ['acls', 'external_ids', 'name', 'ports'],
  QoS: ['bandwidth', 'direction', 'external_ids', 'match', 'priority'],
  Static_MAC_Binding: ['ip', 'logical_port', 'mac', 'override_dynamic_mac'],
} as const;

/** What an earlier run has left of tables without `external_ids`. */
export const NORTHBOUND_CLAIMS: ClaimedRows = {
  Load_Balancer_Group: ({ name }) => isLoadBalancerGroupName(String(name)),
  Static_MAC_Binding: ({ logical_port: port, ip, mac }) => isOurMacBinding(String(port), String(ip), String(mac)),
};

/** No index of the schema: two routers, or two switches, may have one name. */
export const BY_NAME = 'by name';

export type NorthboundReplica = Replica<OvnNorthbound, typeof TABLES>;

export const createNorthboundReplica = (): NorthboundReplica => {
  const owners = ownerIndexes(ovnNorthbound, TABLES, OWNER_KEY);
  return new Replica<OvnNorthbound, typeof TABLES>({
    model: ovnNorthbound,
    tables: TABLES,
    trackParents: true,
    indexes: {
      ...owners,
      Logical_Router: { ...owners.Logical_Router, [BY_NAME]: ({ name }) => name },
      Logical_Switch: { ...owners.Logical_Switch, [BY_NAME]: ({ name }) => name },
    },
  });
};
