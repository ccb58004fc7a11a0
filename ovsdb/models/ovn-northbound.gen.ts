// Generated from ovsdb/schemas/ovn-northbound.ovsschema by `make gen`. DO NOT EDIT.
import { map, optional, ref, scalar, set, weakRef } from '../schema/column.ts';
import type { DatabaseModel } from '../schema/model.ts';
import type { Uuid } from '../uuid.ts';

/** A row of OVN_Northbound's table ACL. */
export interface ACLRow {
  readonly _uuid: Uuid;
  readonly action: 'allow' | 'allow-related' | 'allow-stateless' | 'drop' | 'reject' | 'pass';
  readonly direction: 'from-lport' | 'to-lport';
  readonly external_ids: Readonly<Record<string, string>>;
  readonly label: number;
  readonly log: boolean;
  readonly match: string;
  readonly meter: string | undefined;
  readonly name: string | undefined;
  readonly options: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly sample_est: Uuid | undefined;
  readonly sample_new: Uuid | undefined;
  readonly severity: 'alert' | 'warning' | 'notice' | 'info' | 'debug' | undefined;
  readonly tier: number;
}

/** A row of OVN_Northbound's table Address_Set. */
export interface AddressSetRow {
  readonly _uuid: Uuid;
  readonly addresses: readonly string[];
  readonly external_ids: Readonly<Record<string, string>>;
  readonly name: string;
}

/** A row of OVN_Northbound's table BFD. */
export interface BFDRow {
  readonly _uuid: Uuid;
  readonly detect_mult: number | undefined;
  readonly dst_ip: string;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly logical_port: string;
  readonly min_rx: number | undefined;
  readonly min_tx: number | undefined;
  readonly options: Readonly<Record<string, string>>;
  readonly status: 'down' | 'init' | 'up' | 'admin_down' | undefined;
}

/** A row of OVN_Northbound's table Chassis_Template_Var. */
export interface ChassisTemplateVarRow {
  readonly _uuid: Uuid;
  readonly chassis: string;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, string>>;
}

/** A row of OVN_Northbound's table Connection. */
export interface ConnectionRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly inactivity_probe: number | undefined;
  readonly is_connected: boolean;
  readonly max_backoff: number | undefined;
  readonly other_config: Readonly<Record<string, string>>;
  readonly status: Readonly<Record<string, string>>;
  readonly target: string;
}

/** A row of OVN_Northbound's table Copp. */
export interface CoppRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly meters: Readonly<Record<string, string>>;
  readonly name: string;
}

/** A row of OVN_Northbound's table DHCP_Options. */
export interface DHCPOptionsRow {
  readonly _uuid: Uuid;
  readonly cidr: string;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
}

/** A row of OVN_Northbound's table DHCP_Relay. */
export interface DHCPRelayRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  readonly servers: string | undefined;
}

/** A row of OVN_Northbound's table DNS. */
export interface DNSRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
  readonly records: Readonly<Record<string, string>>;
}

/** A row of OVN_Northbound's table Forwarding_Group. */
export interface ForwardingGroupRow {
  readonly _uuid: Uuid;
  readonly child_port: readonly string[];
  readonly external_ids: Readonly<Record<string, string>>;
  readonly liveness: boolean;
  readonly name: string;
  readonly vip: string;
  readonly vmac: string;
}

/** A row of OVN_Northbound's table Gateway_Chassis. */
export interface GatewayChassisRow {
  readonly _uuid: Uuid;
  readonly chassis_name: string;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  readonly priority: number;
}

/** A row of OVN_Northbound's table HA_Chassis. */
export interface HAChassisRow {
  readonly _uuid: Uuid;
  readonly chassis_name: string;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly priority: number;
}

/** A row of OVN_Northbound's table HA_Chassis_Group. */
export interface HAChassisGroupRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly ha_chassis: readonly Uuid[];
  readonly name: string;
}

/** A row of OVN_Northbound's table Load_Balancer. */
export interface LoadBalancerRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly health_check: readonly Uuid[];
  readonly ip_port_mappings: Readonly<Record<string, string>>;
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  readonly protocol: 'tcp' | 'udp' | 'sctp' | undefined;
  readonly selection_fields: readonly ('eth_src' | 'eth_dst' | 'ip_src' | 'ip_dst' | 'ipv6_src' | 'ipv6_dst' | 'tp_src' | 'tp_dst')[];
  readonly vips: Readonly<Record<string, string>>;
}

/** A row of OVN_Northbound's table Load_Balancer_Group. */
export interface LoadBalancerGroupRow {
  readonly _uuid: Uuid;
  readonly load_balancer: readonly Uuid[];
  readonly name: string;
}

/** A row of OVN_Northbound's table Load_Balancer_Health_Check. */
export interface LoadBalancerHealthCheckRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
  readonly vip: string;
}

/** A row of OVN_Northbound's table Logical_Router. */
export interface LogicalRouterRow {
  readonly _uuid: Uuid;
  readonly copp: Uuid | undefined;
  readonly enabled: boolean | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly load_balancer: readonly Uuid[];
  readonly load_balancer_group: readonly Uuid[];
  readonly name: string;
  readonly nat: readonly Uuid[];
  readonly options: Readonly<Record<string, string>>;
  readonly policies: readonly Uuid[];
  readonly ports: readonly Uuid[];
  readonly static_routes: readonly Uuid[];
}

/** A row of OVN_Northbound's table Logical_Router_Policy. */
export interface LogicalRouterPolicyRow {
  readonly _uuid: Uuid;
  readonly action: 'allow' | 'drop' | 'reroute' | 'jump';
  readonly bfd_sessions: readonly Uuid[];
  readonly chain: string | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly jump_chain: string | undefined;
  readonly match: string;
  readonly nexthop: string | undefined;
  readonly nexthops: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  readonly priority: number;
}

/** A row of OVN_Northbound's table Logical_Router_Port. */
export interface LogicalRouterPortRow {
  readonly _uuid: Uuid;
  readonly dhcp_relay: Uuid | undefined;
  readonly enabled: boolean | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly gateway_chassis: readonly Uuid[];
  readonly ha_chassis_group: Uuid | undefined;
  readonly ipv6_prefix: readonly string[];
  readonly ipv6_ra_configs: Readonly<Record<string, string>>;
  readonly mac: string;
  readonly name: string;
  readonly networks: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  readonly peer: string | undefined;
  readonly status: Readonly<Record<string, string>>;
}

/** A row of OVN_Northbound's table Logical_Router_Static_Route. */
export interface LogicalRouterStaticRouteRow {
  readonly _uuid: Uuid;
  readonly bfd: Uuid | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly ip_prefix: string;
  readonly nexthop: string;
  readonly options: Readonly<Record<string, string>>;
  readonly output_port: string | undefined;
  readonly policy: 'src-ip' | 'dst-ip' | undefined;
  readonly route_table: string;
  readonly selection_fields: readonly ('eth_src' | 'eth_dst' | 'ip_proto' | 'ip_src' | 'ip_dst' | 'ipv6_src' | 'ipv6_dst' | 'tp_src' | 'tp_dst')[];
}

/** A row of OVN_Northbound's table Logical_Switch. */
export interface LogicalSwitchRow {
  readonly _uuid: Uuid;
  readonly acls: readonly Uuid[];
  readonly copp: Uuid | undefined;
  readonly dns_records: readonly Uuid[];
  readonly external_ids: Readonly<Record<string, string>>;
  readonly forwarding_groups: readonly Uuid[];
  readonly load_balancer: readonly Uuid[];
  readonly load_balancer_group: readonly Uuid[];
  readonly name: string;
  readonly other_config: Readonly<Record<string, string>>;
  readonly ports: readonly Uuid[];
  readonly qos_rules: readonly Uuid[];
}

/** A row of OVN_Northbound's table Logical_Switch_Port. */
export interface LogicalSwitchPortRow {
  readonly _uuid: Uuid;
  readonly addresses: readonly string[];
  readonly dhcpv4_options: Uuid | undefined;
  readonly dhcpv6_options: Uuid | undefined;
  readonly dynamic_addresses: string | undefined;
  readonly enabled: boolean | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly ha_chassis_group: Uuid | undefined;
  readonly mirror_rules: readonly Uuid[];
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  readonly parent_name: string | undefined;
  readonly peer: string | undefined;
  readonly port_security: readonly string[];
  readonly tag: number | undefined;
  readonly tag_request: number | undefined;
  readonly type: string;
  readonly up: boolean | undefined;
}

/** A row of OVN_Northbound's table Meter. */
export interface MeterRow {
  readonly _uuid: Uuid;
  readonly bands: readonly Uuid[];
  readonly external_ids: Readonly<Record<string, string>>;
  readonly fair: boolean | undefined;
  readonly name: string;
  readonly unit: 'kbps' | 'pktps';
}

/** A row of OVN_Northbound's table Meter_Band. */
export interface MeterBandRow {
  readonly _uuid: Uuid;
  readonly action: 'drop';
  readonly burst_size: number;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly rate: number;
}

/** A row of OVN_Northbound's table Mirror. */
export interface MirrorRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly filter: 'from-lport' | 'to-lport' | 'both';
  readonly index: number;
  readonly name: string;
  readonly sink: string;
  readonly type: 'gre' | 'erspan' | 'local';
}

/** A row of OVN_Northbound's table NAT. */
export interface NATRow {
  readonly _uuid: Uuid;
  readonly allowed_ext_ips: Uuid | undefined;
  readonly exempted_ext_ips: Uuid | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly external_ip: string;
  readonly external_mac: string | undefined;
  readonly external_port_range: string;
  readonly gateway_port: Uuid | undefined;
  readonly logical_ip: string;
  readonly logical_port: string | undefined;
  readonly match: string;
  readonly options: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly type: 'dnat' | 'snat' | 'dnat_and_snat';
}

/** A row of OVN_Northbound's table NB_Global. */
export interface NBGlobalRow {
  readonly _uuid: Uuid;
  readonly connections: readonly Uuid[];
  readonly external_ids: Readonly<Record<string, string>>;
  readonly hv_cfg: number;
  readonly hv_cfg_timestamp: number;
  readonly ipsec: boolean;
  readonly name: string;
  readonly nb_cfg: number;
  readonly nb_cfg_timestamp: number;
  readonly options: Readonly<Record<string, string>>;
  readonly sb_cfg: number;
  readonly sb_cfg_timestamp: number;
  readonly ssl: Uuid | undefined;
}

/** A row of OVN_Northbound's table Port_Group. */
export interface PortGroupRow {
  readonly _uuid: Uuid;
  readonly acls: readonly Uuid[];
  readonly external_ids: Readonly<Record<string, string>>;
  readonly name: string;
  readonly ports: readonly Uuid[];
}

/** A row of OVN_Northbound's table QoS. */
export interface QoSRow {
  readonly _uuid: Uuid;
  readonly action: Readonly<Record<string, number>>;
  readonly bandwidth: Readonly<Record<string, number>>;
  readonly direction: 'from-lport' | 'to-lport';
  readonly external_ids: Readonly<Record<string, string>>;
  readonly match: string;
  readonly priority: number;
}

/** A row of OVN_Northbound's table SSL. */
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

/** A row of OVN_Northbound's table Sample. */
export interface SampleRow {
  readonly _uuid: Uuid;
  readonly collectors: readonly Uuid[];
  readonly metadata: number;
}

/** A row of OVN_Northbound's table Sample_Collector. */
export interface SampleCollectorRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly id: number;
  readonly name: string;
  readonly probability: number;
  readonly set_id: number;
}

/** A row of OVN_Northbound's table Sampling_App. */
export interface SamplingAppRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly id: number;
  readonly type: 'drop' | 'acl-new' | 'acl-est';
}

/** A row of OVN_Northbound's table Static_MAC_Binding. */
export interface StaticMACBindingRow {
  readonly _uuid: Uuid;
  readonly ip: string;
  readonly logical_port: string;
  readonly mac: string;
  readonly override_dynamic_mac: boolean;
}

/** The tables of OVN_Northbound. */
export type OvnNorthbound = {
  readonly ACL: ACLRow;
  readonly Address_Set: AddressSetRow;
  readonly BFD: BFDRow;
  readonly Chassis_Template_Var: ChassisTemplateVarRow;
  readonly Connection: ConnectionRow;
  readonly Copp: CoppRow;
  readonly DHCP_Options: DHCPOptionsRow;
  readonly DHCP_Relay: DHCPRelayRow;
  readonly DNS: DNSRow;
  readonly Forwarding_Group: ForwardingGroupRow;
  readonly Gateway_Chassis: GatewayChassisRow;
  readonly HA_Chassis: HAChassisRow;
  readonly HA_Chassis_Group: HAChassisGroupRow;
  readonly Load_Balancer: LoadBalancerRow;
  readonly Load_Balancer_Group: LoadBalancerGroupRow;
  readonly Load_Balancer_Health_Check: LoadBalancerHealthCheckRow;
  readonly Logical_Router: LogicalRouterRow;
  readonly Logical_Router_Policy: LogicalRouterPolicyRow;
  readonly Logical_Router_Port: LogicalRouterPortRow;
  readonly Logical_Router_Static_Route: LogicalRouterStaticRouteRow;
  readonly Logical_Switch: LogicalSwitchRow;
  readonly Logical_Switch_Port: LogicalSwitchPortRow;
  readonly Meter: MeterRow;
  readonly Meter_Band: MeterBandRow;
  readonly Mirror: MirrorRow;
  readonly NAT: NATRow;
  readonly NB_Global: NBGlobalRow;
  readonly Port_Group: PortGroupRow;
  readonly QoS: QoSRow;
  readonly SSL: SSLRow;
  readonly Sample: SampleRow;
  readonly Sample_Collector: SampleCollectorRow;
  readonly Sampling_App: SamplingAppRow;
  readonly Static_MAC_Binding: StaticMACBindingRow;
};

/** OVN_Northbound 7.11.0. */
export const ovnNorthbound: DatabaseModel<OvnNorthbound> = {
  name: 'OVN_Northbound',
  version: '7.11.0',
  tables: {
    ACL: {
      isRoot: false,
      indexes: [],
      columns: {
        action: scalar('string'),
        direction: scalar('string'),
        external_ids: map('string', 'string'),
        label: scalar('integer'),
        log: scalar('boolean'),
        match: scalar('string'),
        meter: optional('string'),
        name: optional({ type: 'string', maxLength: 63 }),
        options: map('string', 'string'),
        priority: scalar('integer'),
        sample_est: optional(ref('Sample')),
        sample_new: optional(ref('Sample')),
        severity: optional('string'),
        tier: scalar('integer'),
      },
    },
    Address_Set: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        addresses: set('string'),
        external_ids: map('string', 'string'),
        name: scalar('string'),
      },
    },
    BFD: {
      isRoot: true,
      indexes: [['logical_port', 'dst_ip']],
      columns: {
        detect_mult: optional('integer'),
        dst_ip: scalar('string'),
        external_ids: map('string', 'string'),
        logical_port: scalar('string'),
        min_rx: optional('integer'),
        min_tx: optional('integer'),
        options: map('string', 'string'),
        status: optional('string'),
      },
    },
    Chassis_Template_Var: {
      isRoot: true,
      indexes: [['chassis']],
      columns: {
        chassis: scalar('string'),
        external_ids: map('string', 'string'),
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
        status: map('string', 'string', { ephemeral: true }),
        target: scalar('string'),
      },
    },
    Copp: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        external_ids: map('string', 'string'),
        meters: map('string', 'string'),
        name: scalar('string'),
      },
    },
    DHCP_Options: {
      isRoot: true,
      indexes: [],
      columns: {
        cidr: scalar('string'),
        external_ids: map('string', 'string'),
        options: map('string', 'string'),
      },
    },
    DHCP_Relay: {
      isRoot: true,
      indexes: [],
      columns: {
        external_ids: map('string', 'string'),
        name: scalar('string'),
        options: map('string', 'string'),
        servers: optional('string'),
      },
    },
    DNS: {
      isRoot: true,
      indexes: [],
      columns: {
        external_ids: map('string', 'string'),
        options: map('string', 'string'),
        records: map('string', 'string'),
      },
    },
    Forwarding_Group: {
      isRoot: false,
      indexes: [],
      columns: {
        child_port: set('string', { min: 1 }),
        external_ids: map('string', 'string'),
        liveness: scalar('boolean'),
        name: scalar('string'),
        vip: scalar('string'),
        vmac: scalar('string'),
      },
    },
    Gateway_Chassis: {
      isRoot: false,
      indexes: [['name']],
      columns: {
        chassis_name: scalar('string'),
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
        chassis_name: scalar('string'),
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
      },
    },
    Load_Balancer: {
      isRoot: true,
      indexes: [],
      columns: {
        external_ids: map('string', 'string'),
        health_check: set(ref('Load_Balancer_Health_Check')),
        ip_port_mappings: map('string', 'string'),
        name: scalar('string'),
        options: map('string', 'string'),
        protocol: optional('string'),
        selection_fields: set('string'),
        vips: map('string', 'string'),
      },
    },
    Load_Balancer_Group: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        load_balancer: set(weakRef('Load_Balancer')),
        name: scalar('string'),
      },
    },
    Load_Balancer_Health_Check: {
      isRoot: false,
      indexes: [],
      columns: {
        external_ids: map('string', 'string'),
        options: map('string', 'string'),
        vip: scalar('string'),
      },
    },
    Logical_Router: {
      isRoot: true,
      indexes: [],
      columns: {
        copp: optional(weakRef('Copp')),
        enabled: optional('boolean'),
        external_ids: map('string', 'string'),
        load_balancer: set(weakRef('Load_Balancer')),
        load_balancer_group: set(ref('Load_Balancer_Group')),
        name: scalar('string'),
        nat: set(ref('NAT')),
        options: map('string', 'string'),
        policies: set(ref('Logical_Router_Policy')),
        ports: set(ref('Logical_Router_Port')),
        static_routes: set(ref('Logical_Router_Static_Route')),
      },
    },
    Logical_Router_Policy: {
      isRoot: false,
      indexes: [],
      columns: {
        action: scalar('string'),
        bfd_sessions: set(weakRef('BFD')),
        chain: optional('string'),
        external_ids: map('string', 'string'),
        jump_chain: optional('string'),
        match: scalar('string'),
        nexthop: optional('string'),
        nexthops: set('string'),
        options: map('string', 'string'),
        priority: scalar('integer'),
      },
    },
    Logical_Router_Port: {
      isRoot: false,
      indexes: [['name']],
      columns: {
        dhcp_relay: optional(ref('DHCP_Relay')),
        enabled: optional('boolean'),
        external_ids: map('string', 'string'),
        gateway_chassis: set(ref('Gateway_Chassis')),
        ha_chassis_group: optional(ref('HA_Chassis_Group')),
        ipv6_prefix: set('string'),
        ipv6_ra_configs: map('string', 'string'),
        mac: scalar('string'),
        name: scalar('string'),
        networks: set('string'),
        options: map('string', 'string'),
        peer: optional('string'),
        status: map('string', 'string'),
      },
    },
    Logical_Router_Static_Route: {
      isRoot: false,
      indexes: [],
      columns: {
        bfd: optional(weakRef('BFD')),
        external_ids: map('string', 'string'),
        ip_prefix: scalar('string'),
        nexthop: scalar('string'),
        options: map('string', 'string'),
        output_port: optional('string'),
        policy: optional('string'),
        route_table: scalar('string'),
        selection_fields: set('string'),
      },
    },
    Logical_Switch: {
      isRoot: true,
      indexes: [],
      columns: {
        acls: set(ref('ACL')),
        copp: optional(weakRef('Copp')),
        dns_records: set(weakRef('DNS')),
        external_ids: map('string', 'string'),
        forwarding_groups: set(ref('Forwarding_Group')),
        load_balancer: set(weakRef('Load_Balancer')),
        load_balancer_group: set(ref('Load_Balancer_Group')),
        name: scalar('string'),
        other_config: map('string', 'string'),
        ports: set(ref('Logical_Switch_Port')),
        qos_rules: set(ref('QoS')),
      },
    },
    Logical_Switch_Port: {
      isRoot: false,
      indexes: [['name']],
      columns: {
        addresses: set('string'),
        dhcpv4_options: optional(weakRef('DHCP_Options')),
        dhcpv6_options: optional(weakRef('DHCP_Options')),
        dynamic_addresses: optional('string'),
        enabled: optional('boolean'),
        external_ids: map('string', 'string'),
        ha_chassis_group: optional(ref('HA_Chassis_Group')),
        mirror_rules: set(weakRef('Mirror')),
        name: scalar('string'),
        options: map('string', 'string'),
        parent_name: optional('string'),
        peer: optional('string'),
        port_security: set('string'),
        tag: optional('integer'),
        tag_request: optional('integer'),
        type: scalar('string'),
        up: optional('boolean'),
      },
    },
    Meter: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        bands: set(ref('Meter_Band'), { min: 1 }),
        external_ids: map('string', 'string'),
        fair: optional('boolean'),
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
        external_ids: map('string', 'string'),
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
    NAT: {
      isRoot: false,
      indexes: [],
      columns: {
        allowed_ext_ips: optional(ref('Address_Set')),
        exempted_ext_ips: optional(ref('Address_Set')),
        external_ids: map('string', 'string'),
        external_ip: scalar('string'),
        external_mac: optional('string'),
        external_port_range: scalar('string'),
        gateway_port: optional(weakRef('Logical_Router_Port')),
        logical_ip: scalar('string'),
        logical_port: optional('string'),
        match: scalar('string'),
        options: map('string', 'string'),
        priority: scalar('integer'),
        type: scalar('string'),
      },
    },
    NB_Global: {
      isRoot: true,
      maxRows: 1,
      indexes: [],
      columns: {
        connections: set(ref('Connection')),
        external_ids: map('string', 'string'),
        hv_cfg: scalar('integer'),
        hv_cfg_timestamp: scalar('integer'),
        ipsec: scalar('boolean'),
        name: scalar('string'),
        nb_cfg: scalar('integer'),
        nb_cfg_timestamp: scalar('integer'),
        options: map('string', 'string'),
        sb_cfg: scalar('integer'),
        sb_cfg_timestamp: scalar('integer'),
        ssl: optional(ref('SSL')),
      },
    },
    Port_Group: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        acls: set(ref('ACL')),
        external_ids: map('string', 'string'),
        name: scalar('string'),
        ports: set(weakRef('Logical_Switch_Port')),
      },
    },
    QoS: {
      isRoot: false,
      indexes: [],
      columns: {
        action: map('string', 'integer'),
        bandwidth: map('string', 'integer'),
        direction: scalar('string'),
        external_ids: map('string', 'string'),
        match: scalar('string'),
        priority: scalar('integer'),
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
    Sample: {
      isRoot: false,
      indexes: [['metadata']],
      columns: {
        collectors: set(ref('Sample_Collector')),
        metadata: scalar('integer'),
      },
    },
    Sample_Collector: {
      isRoot: true,
      indexes: [['id']],
      columns: {
        external_ids: map('string', 'string'),
        id: scalar('integer'),
        name: scalar('string'),
        probability: scalar('integer'),
        set_id: scalar('integer'),
      },
    },
    Sampling_App: {
      isRoot: true,
      indexes: [['type']],
      columns: {
        external_ids: map('string', 'string'),
        id: scalar('integer'),
        type: scalar('string'),
      },
    },
    Static_MAC_Binding: {
      isRoot: true,
      indexes: [['logical_port', 'ip']],
      columns: {
        ip: scalar('string'),
        logical_port: scalar('string'),
        mac: scalar('string'),
        override_dynamic_mac: scalar('boolean'),
      },
    },
  },
};
