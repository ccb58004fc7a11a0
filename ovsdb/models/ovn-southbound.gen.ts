// Generated from ovsdb/schemas/ovn-southbound.ovsschema by `make gen`. DO NOT EDIT.
import { map, optional, ref, scalar, set, weakRef } from '../schema/column.ts';
import type { DatabaseModel } from '../schema/model.ts';
import type { Uuid } from '../uuid.ts';

/** A row of OVN_Southbound's table ACL_ID. */
export interface ACLIDRow {
  readonly _uuid: Uuid;
  readonly id: number;
}

/** A row of OVN_Southbound's table Address_Set. */
export interface AddressSetRow {
  readonly _uuid: Uuid;
  readonly addresses: readonly string[];
  readonly name: string;
}

/** A row of OVN_Southbound's table Advertised_Route. */
export interface AdvertisedRouteRow {
  readonly _uuid: Uuid;
  readonly datapath: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly ip_prefix: string;
  readonly logical_port: Uuid;
  readonly tracked_port: Uuid | undefined;
}

/** A row of OVN_Southbound's table BFD. */
export interface BFDRow {
  readonly _uuid: Uuid;
  readonly chassis_name: string;
  readonly detect_mult: number;
  readonly disc: number;
  readonly dst_ip: string;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly logical_port: string;
  readonly min_rx: number;
  readonly min_tx: number;
  readonly options: Readonly<Record<string, string>>;
  readonly src_port: number;
  readonly status: 'down' | 'init' | 'up' | 'admin_down';
}

/** A row of OVN_Southbound's table Chassis. */
export interface ChassisRow {
  readonly _uuid: Uuid;
  readonly encaps: readonly Uuid[];
  readonly external_ids: Readonly<Record<string, string>>;
  readonly hostname: string;
  readonly name: string;
  readonly nb_cfg: number;
  readonly other_config: Readonly<Record<string, string>>;
  readonly transport_zones: readonly string[];
  readonly vtep_logical_switches: readonly string[];
}

/** A row of OVN_Southbound's table Chassis_Private. */
export interface ChassisPrivateRow {
  readonly _uuid: Uuid;
  readonly chassis: Uuid | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly name: string;
  readonly nb_cfg: number;
  readonly nb_cfg_timestamp: number;
}

/** A row of OVN_Southbound's table Chassis_Template_Var. */
export interface ChassisTemplateVarRow {
  readonly _uuid: Uuid;
  readonly chassis: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** A row of OVN_Southbound's table Connection. */
export interface ConnectionRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly inactivity_probe: number | undefined;
  readonly is_connected: boolean;
  readonly max_backoff: number | undefined;
  readonly other_config: Readonly<Record<string, string>>;
  readonly read_only: boolean;
  readonly role: string;
  readonly status: Readonly<Record<string, string>>;
  readonly target: string;
}

/** A row of OVN_Southbound's table Controller_Event. */
export interface ControllerEventRow {
  readonly _uuid: Uuid;
  readonly chassis: Uuid | undefined;
  readonly event_info: Readonly<Record<string, string>>;
  readonly event_type: 'empty_lb_backends';
  readonly seq_num: number;
}

/** A row of OVN_Southbound's table DHCP_Options. */
export interface DHCPOptionsRow {
  readonly _uuid: Uuid;
  readonly code: number;
  readonly name: string;
  readonly type: 'bool' | 'uint8' | 'uint16' | 'uint32' | 'ipv4' | 'static_routes' | 'str' | 'host_id' | 'domains';
}

/** A row of OVN_Southbound's table DHCPv6_Options. */
export interface DHCPv6OptionsRow {
  readonly _uuid: Uuid;
  readonly code: number;
  readonly name: string;
  readonly type: 'ipv6' | 'str' | 'mac' | 'domain';
}

/** A row of OVN_Southbound's table DNS. */
export interface DNSRow {
  readonly _uuid: Uuid;
  readonly datapaths: readonly Uuid[];
  readonly external_ids: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
  readonly records: Readonly<Record<string, string>>;
}

/** A row of OVN_Southbound's table Datapath_Binding. */
export interface DatapathBindingRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly load_balancers: readonly Uuid[];
  readonly tunnel_key: number;
}

/** A row of OVN_Southbound's table ECMP_Nexthop. */
export interface ECMPNexthopRow {
  readonly _uuid: Uuid;
  readonly datapath: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly mac: string;
  readonly nexthop: string;
  readonly port: Uuid;
}

/** A row of OVN_Southbound's table Encap. */
export interface EncapRow {
  readonly _uuid: Uuid;
  readonly chassis_name: string;
  readonly ip: string;
  readonly options: Readonly<Record<string, string>>;
  readonly type: 'geneve' | 'stt' | 'vxlan';
}

/** A row of OVN_Southbound's table FDB. */
export interface FDBRow {
  readonly _uuid: Uuid;
  readonly dp_key: number;
  readonly mac: string;
  readonly port_key: number;
  readonly timestamp: number;
}

/** A row of OVN_Southbound's table Gateway_Chassis. */
export interface GatewayChassisRow {
  readonly _uuid: Uuid;
  readonly chassis: Uuid | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  readonly priority: number;
}

/** A row of OVN_Southbound's table HA_Chassis. */
export interface HAChassisRow {
  readonly _uuid: Uuid;
  readonly chassis: Uuid | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly priority: number;
}

/** A row of OVN_Southbound's table HA_Chassis_Group. */
export interface HAChassisGroupRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly ha_chassis: readonly Uuid[];
  readonly name: string;
  readonly ref_chassis: readonly Uuid[];
}

/** A row of OVN_Southbound's table IGMP_Group. */
export interface IGMPGroupRow {
  readonly _uuid: Uuid;
  readonly address: string;
  readonly chassis: Uuid | undefined;
  readonly chassis_name: string;
  readonly datapath: Uuid | undefined;
  readonly ports: readonly Uuid[];
  readonly protocol: string;
}

/** A row of OVN_Southbound's table IP_Multicast. */
export interface IPMulticastRow {
  readonly _uuid: Uuid;
  readonly datapath: Uuid;
  readonly enabled: boolean | undefined;
  readonly eth_src: string;
  readonly idle_timeout: number | undefined;
  readonly ip4_src: string;
  readonly ip6_src: string;
  readonly querier: boolean | undefined;
  readonly query_interval: number | undefined;
  readonly query_max_resp: number | undefined;
  readonly seq_no: number;
  readonly table_size: number | undefined;
}

/** A row of OVN_Southbound's table Learned_Route. */
export interface LearnedRouteRow {
  readonly _uuid: Uuid;
  readonly datapath: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly ip_prefix: string;
  readonly logical_port: Uuid;
  readonly nexthop: string;
}

/** A row of OVN_Southbound's table Load_Balancer. */
export interface LoadBalancerRow {
  readonly _uuid: Uuid;
  readonly datapath_group: Uuid | undefined;
  readonly datapaths: readonly Uuid[];
  readonly external_ids: Readonly<Record<string, string>>;
  readonly lr_datapath_group: Uuid | undefined;
  readonly ls_datapath_group: Uuid | undefined;
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  readonly protocol: 'tcp' | 'udp' | 'sctp' | undefined;
  readonly vips: Readonly<Record<string, string>>;
}

/** A row of OVN_Southbound's table Logical_DP_Group. */
export interface LogicalDPGroupRow {
  readonly _uuid: Uuid;
  readonly datapaths: readonly Uuid[];
}

/** A row of OVN_Southbound's table Logical_Flow. */
export interface LogicalFlowRow {
  readonly _uuid: Uuid;
  readonly actions: string;
  readonly controller_meter: string | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly flow_desc: string | undefined;
  readonly logical_datapath: Uuid | undefined;
  readonly logical_dp_group: Uuid | undefined;
  readonly match: string;
  readonly pipeline: 'ingress' | 'egress';
  readonly priority: number;
  readonly table_id: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** A row of OVN_Southbound's table MAC_Binding. */
export interface MACBindingRow {
  readonly _uuid: Uuid;
  readonly datapath: Uuid;
  readonly ip: string;
  readonly logical_port: string;
  readonly mac: string;
  readonly timestamp: number;
}

/** A row of OVN_Southbound's table Meter. */
export interface MeterRow {
  readonly _uuid: Uuid;
  readonly bands: readonly Uuid[];
  readonly name: string;
  readonly unit: 'kbps' | 'pktps';
}

/** A row of OVN_Southbound's table Meter_Band. */
export interface MeterBandRow {
  readonly _uuid: Uuid;
  readonly action: 'drop';
  readonly burst_size: number;
  readonly rate: number;
}

/** A row of OVN_Southbound's table Mirror. */
export interface MirrorRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly filter: 'from-lport' | 'to-lport' | 'both';
  readonly index: number;
  readonly name: string;
  readonly sink: string;
  readonly type: 'gre' | 'erspan' | 'local';
}

/** A row of OVN_Southbound's table Multicast_Group. */
export interface MulticastGroupRow {
  readonly _uuid: Uuid;
  readonly datapath: Uuid;
  readonly name: string;
  readonly ports: readonly Uuid[];
  readonly tunnel_key: number;
}

/** A row of OVN_Southbound's table Port_Binding. */
export interface PortBindingRow {
  readonly _uuid: Uuid;
  readonly additional_chassis: readonly Uuid[];
  readonly additional_encap: readonly Uuid[];
  readonly chassis: Uuid | undefined;
  readonly datapath: Uuid;
  readonly encap: Uuid | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly gateway_chassis: readonly Uuid[];
  readonly ha_chassis_group: Uuid | undefined;
  readonly logical_port: string;
  readonly mac: readonly string[];
  readonly mirror_rules: readonly Uuid[];
  readonly nat_addresses: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  readonly parent_port: string | undefined;
  readonly port_security: readonly string[];
  readonly requested_additional_chassis: readonly Uuid[];
  readonly requested_chassis: Uuid | undefined;
  readonly tag: number | undefined;
  readonly tunnel_key: number;
  readonly type: string;
  readonly up: boolean | undefined;
  readonly virtual_parent: string | undefined;
}

/** A row of OVN_Southbound's table Port_Group. */
export interface PortGroupRow {
  readonly _uuid: Uuid;
  readonly name: string;
  readonly ports: readonly string[];
}

/** A row of OVN_Southbound's table RBAC_Permission. */
export interface RBACPermissionRow {
  readonly _uuid: Uuid;
  readonly authorization: readonly string[];
  readonly insert_delete: boolean;
  readonly table: string;
  readonly update: readonly string[];
}

/** A row of OVN_Southbound's table RBAC_Role. */
export interface RBACRoleRow {
  readonly _uuid: Uuid;
  readonly name: string;
  readonly permissions: Readonly<Record<string, Uuid>>;
}

/** A row of OVN_Southbound's table SB_Global. */
export interface SBGlobalRow {
  readonly _uuid: Uuid;
  readonly connections: readonly Uuid[];
  readonly external_ids: Readonly<Record<string, string>>;
  readonly ipsec: boolean;
  readonly nb_cfg: number;
  readonly options: Readonly<Record<string, string>>;
  readonly ssl: Uuid | undefined;
}

/** A row of OVN_Southbound's table SSL. */
export interface SSLRow {
  readonly _uuid: Uuid;
  readonly bootstrap_ca_cert: boolean;
  readonly ca_cert: string;
  readonly certificate: string;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly private_key: string;
  readonly ssl_ciphers: string;
  readonly ssl_ciphersuites: string;
  readonly ssl_protocols: string;
}

/** A row of OVN_Southbound's table Service_Monitor. */
export interface ServiceMonitorRow {
  readonly _uuid: Uuid;
  readonly chassis_name: string;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly ip: string;
  readonly logical_port: string;
  readonly options: Readonly<Record<string, string>>;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp' | undefined;
  readonly src_ip: string;
  readonly src_mac: string;
  readonly status: 'online' | 'offline' | 'error' | undefined;
}

/** A row of OVN_Southbound's table Static_MAC_Binding. */
export interface StaticMACBindingRow {
  readonly _uuid: Uuid;
  readonly datapath: Uuid;
  readonly ip: string;
  readonly logical_port: string;
  readonly mac: string;
  readonly override_dynamic_mac: boolean;
}

/** The tables of OVN_Southbound. */
export type OvnSouthbound = {
  readonly ACL_ID: ACLIDRow;
  readonly Address_Set: AddressSetRow;
  readonly Advertised_Route: AdvertisedRouteRow;
  readonly BFD: BFDRow;
  readonly Chassis: ChassisRow;
  readonly Chassis_Private: ChassisPrivateRow;
  readonly Chassis_Template_Var: ChassisTemplateVarRow;
  readonly Connection: ConnectionRow;
  readonly Controller_Event: ControllerEventRow;
  readonly DHCP_Options: DHCPOptionsRow;
  readonly DHCPv6_Options: DHCPv6OptionsRow;
  readonly DNS: DNSRow;
  readonly Datapath_Binding: DatapathBindingRow;
  readonly ECMP_Nexthop: ECMPNexthopRow;
  readonly Encap: EncapRow;
  readonly FDB: FDBRow;
  readonly Gateway_Chassis: GatewayChassisRow;
  readonly HA_Chassis: HAChassisRow;
  readonly HA_Chassis_Group: HAChassisGroupRow;
  readonly IGMP_Group: IGMPGroupRow;
  readonly IP_Multicast: IPMulticastRow;
  readonly Learned_Route: LearnedRouteRow;
  readonly Load_Balancer: LoadBalancerRow;
  readonly Logical_DP_Group: LogicalDPGroupRow;
  readonly Logical_Flow: LogicalFlowRow;
  readonly MAC_Binding: MACBindingRow;
  readonly Meter: MeterRow;
  readonly Meter_Band: MeterBandRow;
  readonly Mirror: MirrorRow;
  readonly Multicast_Group: MulticastGroupRow;
  readonly Port_Binding: PortBindingRow;
  readonly Port_Group: PortGroupRow;
  readonly RBAC_Permission: RBACPermissionRow;
  readonly RBAC_Role: RBACRoleRow;
  readonly SB_Global: SBGlobalRow;
  readonly SSL: SSLRow;
  readonly Service_Monitor: ServiceMonitorRow;
  readonly Static_MAC_Binding: StaticMACBindingRow;
};

/** OVN_Southbound 20.41.0. */
export const ovnSouthbound: DatabaseModel<OvnSouthbound> = {
  name: 'OVN_Southbound',
  version: '20.41.0',
  tables: {
    ACL_ID: {
      isRoot: true,
      indexes: [],
      columns: {
        id: scalar('integer'),
      },
    },
    Address_Set: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        addresses: set('string'),
        name: scalar('string'),
      },
    },
    Advertised_Route: {
      isRoot: true,
      indexes: [['datapath', 'logical_port', 'ip_prefix', 'tracked_port']],
      columns: {
        datapath: scalar(ref('Datapath_Binding')),
        external_ids: map('string', 'string'),
        ip_prefix: scalar('string'),
        logical_port: scalar(ref('Port_Binding')),
        tracked_port: optional(ref('Port_Binding')),
      },
    },
    BFD: {
      isRoot: true,
      indexes: [['logical_port', 'dst_ip', 'src_port', 'disc']],
      columns: {
        chassis_name: scalar('string'),
        detect_mult: scalar('integer'),
        disc: scalar('integer'),
        dst_ip: scalar('string'),
        external_ids: map('string', 'string'),
        logical_port: scalar('string'),
        min_rx: scalar('integer'),
        min_tx: scalar('integer'),
        options: map('string', 'string'),
        src_port: scalar('integer'),
        status: scalar('string'),
      },
    },
    Chassis: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        encaps: set(ref('Encap'), { min: 1 }),
        external_ids: map('string', 'string'),
        hostname: scalar('string'),
        name: scalar('string'),
        nb_cfg: scalar('integer'),
        other_config: map('string', 'string'),
        transport_zones: set('string'),
        vtep_logical_switches: set('string'),
      },
    },
    Chassis_Private: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        chassis: optional(weakRef('Chassis')),
        external_ids: map('string', 'string'),
        name: scalar('string'),
        nb_cfg: scalar('integer'),
        nb_cfg_timestamp: scalar('integer'),
      },
    },
    Chassis_Template_Var: {
      isRoot: true,
      indexes: [['chassis']],
      columns: {
        chassis: scalar('string'),
        variables: map('string', 'string'),
      },
    },
    Connection: {
      isRoot: false,
      indexes: [['target']],
      columns: {
        external_ids: map('string', 'string'),
        inactivity_probe: optional('integer'),
        is_connected: scalar('boolean', { ephemeral: true }),
        max_backoff: optional('integer'),
        other_config: map('string', 'string'),
        read_only: scalar('boolean'),
        role: scalar('string'),
        status: map('string', 'string', { ephemeral: true }),
        target: scalar('string'),
      },
    },
    Controller_Event: {
      isRoot: true,
      indexes: [],
      columns: {
        chassis: optional(weakRef('Chassis')),
        event_info: map('string', 'string'),
        event_type: scalar('string'),
        seq_num: scalar('integer'),
      },
    },
    DHCP_Options: {
      isRoot: true,
      indexes: [],
      columns: {
        code: scalar('integer'),
        name: scalar('string'),
        type: scalar('string'),
      },
    },
    DHCPv6_Options: {
      isRoot: true,
      indexes: [],
      columns: {
        code: scalar('integer'),
        name: scalar('string'),
        type: scalar('string'),
      },
    },
    DNS: {
      isRoot: true,
      indexes: [],
      columns: {
        datapaths: set(ref('Datapath_Binding'), { min: 1 }),
        external_ids: map('string', 'string'),
        options: map('string', 'string'),
        records: map('string', 'string'),
      },
    },
    Datapath_Binding: {
      isRoot: true,
      indexes: [['tunnel_key']],
      columns: {
        external_ids: map('string', 'string'),
        load_balancers: set('uuid'),
        tunnel_key: scalar('integer'),
      },
    },
    ECMP_Nexthop: {
      isRoot: true,
      indexes: [['nexthop', 'port']],
      columns: {
        datapath: scalar(ref('Datapath_Binding')),
        external_ids: map('string', 'string'),
        mac: scalar('string'),
        nexthop: scalar('string'),
        port: scalar(ref('Port_Binding')),
      },
    },
    Encap: {
      isRoot: false,
      indexes: [['type', 'ip']],
      columns: {
        chassis_name: scalar('string'),
        ip: scalar('string'),
        options: map('string', 'string'),
        type: scalar('string'),
      },
    },
    FDB: {
      isRoot: true,
      indexes: [['mac', 'dp_key']],
      columns: {
        dp_key: scalar('integer'),
        mac: scalar('string'),
        port_key: scalar('integer'),
        timestamp: scalar('integer'),
      },
    },
    Gateway_Chassis: {
      isRoot: false,
      indexes: [['name']],
      columns: {
        chassis: optional(weakRef('Chassis')),
        external_ids: map('string', 'string'),
        name: scalar('string'),
        options: map('string', 'string'),
        priority: scalar('integer'),
      },
    },
    HA_Chassis: {
      isRoot: false,
      indexes: [],
      columns: {
        chassis: optional(weakRef('Chassis')),
        external_ids: map('string', 'string'),
        priority: scalar('integer'),
      },
    },
    HA_Chassis_Group: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        external_ids: map('string', 'string'),
        ha_chassis: set(ref('HA_Chassis')),
        name: scalar('string'),
        ref_chassis: set(weakRef('Chassis')),
      },
    },
    IGMP_Group: {
      isRoot: true,
      indexes: [['address', 'datapath', 'chassis']],
      columns: {
        address: scalar('string'),
        chassis: optional(weakRef('Chassis')),
        chassis_name: scalar('string'),
        datapath: optional(weakRef('Datapath_Binding')),
        ports: set(weakRef('Port_Binding')),
        protocol: scalar('string'),
      },
    },
    IP_Multicast: {
      isRoot: true,
      indexes: [['datapath']],
      columns: {
        datapath: scalar(weakRef('Datapath_Binding')),
        enabled: optional('boolean'),
        eth_src: scalar('string'),
        idle_timeout: optional('integer'),
        ip4_src: scalar('string'),
        ip6_src: scalar('string'),
        querier: optional('boolean'),
        query_interval: optional('integer'),
        query_max_resp: optional('integer'),
        seq_no: scalar('integer'),
        table_size: optional('integer'),
      },
    },
    Learned_Route: {
      isRoot: true,
      indexes: [['datapath', 'logical_port', 'ip_prefix', 'nexthop']],
      columns: {
        datapath: scalar(ref('Datapath_Binding')),
        external_ids: map('string', 'string'),
        ip_prefix: scalar('string'),
        logical_port: scalar(ref('Port_Binding')),
        nexthop: scalar('string'),
      },
    },
    Load_Balancer: {
      isRoot: true,
      indexes: [],
      columns: {
        datapath_group: optional(ref('Logical_DP_Group')),
        datapaths: set(ref('Datapath_Binding')),
        external_ids: map('string', 'string'),
        lr_datapath_group: optional(ref('Logical_DP_Group')),
        ls_datapath_group: optional(ref('Logical_DP_Group')),
        name: scalar('string'),
        options: map('string', 'string'),
        protocol: optional('string'),
        vips: map('string', 'string'),
      },
    },
    Logical_DP_Group: {
      isRoot: false,
      indexes: [],
      columns: {
        datapaths: set(weakRef('Datapath_Binding')),
      },
    },
    Logical_Flow: {
      isRoot: true,
      indexes: [],
      columns: {
        actions: scalar('string'),
        controller_meter: optional('string'),
        external_ids: map('string', 'string'),
        flow_desc: optional('string'),
        logical_datapath: optional(ref('Datapath_Binding')),
        logical_dp_group: optional(ref('Logical_DP_Group')),
        match: scalar('string'),
        pipeline: scalar('string'),
        priority: scalar('integer'),
        table_id: scalar('integer'),
        tags: map('string', 'string'),
      },
    },
    MAC_Binding: {
      isRoot: true,
      indexes: [['logical_port', 'ip']],
      columns: {
        datapath: scalar(ref('Datapath_Binding')),
        ip: scalar('string'),
        logical_port: scalar('string'),
        mac: scalar('string'),
        timestamp: scalar('integer'),
      },
    },
    Meter: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        bands: set(ref('Meter_Band'), { min: 1 }),
        name: scalar('string'),
        unit: scalar('string'),
      },
    },
    Meter_Band: {
      isRoot: false,
      indexes: [],
      columns: {
        action: scalar('string'),
        burst_size: scalar('integer'),
        rate: scalar('integer'),
      },
    },
    Mirror: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        external_ids: map('string', 'string'),
        filter: scalar('string'),
        index: scalar('integer'),
        name: scalar('string'),
        sink: scalar('string'),
        type: scalar('string'),
      },
    },
    Multicast_Group: {
      isRoot: true,
      indexes: [['datapath', 'tunnel_key'], ['datapath', 'name']],
      columns: {
        datapath: scalar(ref('Datapath_Binding')),
        name: scalar('string'),
        ports: set(weakRef('Port_Binding')),
        tunnel_key: scalar('integer'),
      },
    },
    Port_Binding: {
      isRoot: true,
      indexes: [['datapath', 'tunnel_key'], ['logical_port']],
      columns: {
        additional_chassis: set(weakRef('Chassis')),
        additional_encap: set(weakRef('Encap')),
        chassis: optional(weakRef('Chassis')),
        datapath: scalar(ref('Datapath_Binding')),
        encap: optional(weakRef('Encap')),
        external_ids: map('string', 'string'),
        gateway_chassis: set(ref('Gateway_Chassis')),
        ha_chassis_group: optional(ref('HA_Chassis_Group')),
        logical_port: scalar('string'),
        mac: set('string'),
        mirror_rules: set(weakRef('Mirror')),
        nat_addresses: set('string'),
        options: map('string', 'string'),
        parent_port: optional('string'),
        port_security: set('string'),
        requested_additional_chassis: set(weakRef('Chassis')),
        requested_chassis: optional(weakRef('Chassis')),
        tag: optional('integer'),
        tunnel_key: scalar('integer'),
        type: scalar('string'),
        up: optional('boolean'),
        virtual_parent: optional('string'),
      },
    },
    Port_Group: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        name: scalar('string'),
        ports: set('string'),
      },
    },
    RBAC_Permission: {
      isRoot: true,
      indexes: [],
      columns: {
        authorization: set('string'),
        insert_delete: scalar('boolean'),
        table: scalar('string'),
        update: set('string'),
      },
    },
    RBAC_Role: {
      isRoot: true,
      indexes: [],
      columns: {
        name: scalar('string'),
        permissions: map('string', weakRef('RBAC_Permission')),
      },
    },
    SB_Global: {
      isRoot: true,
      maxRows: 1,
      indexes: [],
      columns: {
        connections: set(ref('Connection')),
        external_ids: map('string', 'string'),
        ipsec: scalar('boolean'),
        nb_cfg: scalar('integer'),
        options: map('string', 'string'),
        ssl: optional(ref('SSL')),
      },
    },
    SSL: {
      isRoot: false,
      maxRows: 1,
      indexes: [],
      columns: {
        bootstrap_ca_cert: scalar('boolean'),
        ca_cert: scalar('string'),
        certificate: scalar('string'),
        external_ids: map('string', 'string'),
        private_key: scalar('string'),
        ssl_ciphers: scalar('string'),
        ssl_ciphersuites: scalar('string'),
        ssl_protocols: scalar('string'),
      },
    },
    Service_Monitor: {
      isRoot: true,
      indexes: [['logical_port', 'ip', 'port', 'protocol']],
      columns: {
        chassis_name: scalar('string'),
        external_ids: map('string', 'string'),
        ip: scalar('string'),
        logical_port: scalar('string'),
        options: map('string', 'string'),
        port: scalar('integer'),
        protocol: optional('string'),
        src_ip: scalar('string'),
        src_mac: scalar('string'),
        status: optional('string'),
      },
    },
    Static_MAC_Binding: {
      isRoot: true,
      indexes: [['logical_port', 'ip']],
      columns: {
        datapath: scalar(ref('Datapath_Binding')),
        ip: scalar('string'),
        logical_port: scalar('string'),
        mac: scalar('string'),
        override_dynamic_mac: scalar('boolean'),
      },
    },
  },
};
