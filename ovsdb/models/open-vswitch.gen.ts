// Generated from ovsdb/schemas/open-vswitch.ovsschema by `make gen`. DO NOT EDIT.
import { map, optional, ref, scalar, set, weakRef } from '../schema/column.ts';
import type { DatabaseModel } from '../schema/model.ts';
import type { Uuid } from '../uuid.ts';

/** A row of Open_vSwitch's table AutoAttach. */
export interface AutoAttachRow {
  readonly _uuid: Uuid;
  readonly mappings: Readonly<Record<number, number>>;
  readonly system_description: string;
  readonly system_name: string;
}

/** A row of Open_vSwitch's table Bridge. */
export interface BridgeRow {
  readonly _uuid: Uuid;
  readonly auto_attach: Uuid | undefined;
  readonly controller: readonly Uuid[];
  readonly datapath_id: string | undefined;
  readonly datapath_type: string;
  readonly datapath_version: string;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly fail_mode: 'standalone' | 'secure' | undefined;
  readonly flood_vlans: readonly number[];
  readonly flow_tables: Readonly<Record<number, Uuid>>;
  readonly ipfix: Uuid | undefined;
  readonly mcast_snooping_enable: boolean;
  readonly mirrors: readonly Uuid[];
  readonly name: string;
  readonly netflow: Uuid | undefined;
  readonly other_config: Readonly<Record<string, string>>;
  readonly ports: readonly Uuid[];
  readonly protocols: readonly ('OpenFlow10' | 'OpenFlow11' | 'OpenFlow12' | 'OpenFlow13' | 'OpenFlow14' | 'OpenFlow15')[];
  readonly rstp_enable: boolean;
  readonly rstp_status: Readonly<Record<string, string>>;
  readonly sflow: Uuid | undefined;
  readonly status: Readonly<Record<string, string>>;
  readonly stp_enable: boolean;
}

/** A row of Open_vSwitch's table CT_Timeout_Policy. */
export interface CTTimeoutPolicyRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly timeouts: Readonly<Record<string, number>>;
}

/** A row of Open_vSwitch's table CT_Zone. */
export interface CTZoneRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly limit: number | undefined;
  readonly timeout_policy: Uuid | undefined;
}

/** A row of Open_vSwitch's table Controller. */
export interface ControllerRow {
  readonly _uuid: Uuid;
  readonly connection_mode: 'in-band' | 'out-of-band' | undefined;
  readonly controller_burst_limit: number | undefined;
  readonly controller_queue_size: number | undefined;
  readonly controller_rate_limit: number | undefined;
  readonly enable_async_messages: boolean | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly inactivity_probe: number | undefined;
  readonly is_connected: boolean;
  readonly local_gateway: string | undefined;
  readonly local_ip: string | undefined;
  readonly local_netmask: string | undefined;
  readonly max_backoff: number | undefined;
  readonly other_config: Readonly<Record<string, string>>;
  readonly role: 'other' | 'master' | 'slave' | undefined;
  readonly status: Readonly<Record<string, string>>;
  readonly target: string;
  readonly type: 'primary' | 'service' | undefined;
}

/** A row of Open_vSwitch's table Datapath. */
export interface DatapathRow {
  readonly _uuid: Uuid;
  readonly capabilities: Readonly<Record<string, string>>;
  readonly ct_zone_default_limit: number | undefined;
  readonly ct_zones: Readonly<Record<number, Uuid>>;
  readonly datapath_version: string;
  readonly external_ids: Readonly<Record<string, string>>;
}

/** A row of Open_vSwitch's table Flow_Sample_Collector_Set. */
export interface FlowSampleCollectorSetRow {
  readonly _uuid: Uuid;
  readonly bridge: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly id: number;
  readonly ipfix: Uuid | undefined;
  readonly local_group_id: number | undefined;
}

/** A row of Open_vSwitch's table Flow_Table. */
export interface FlowTableRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly flow_limit: number | undefined;
  readonly groups: readonly string[];
  readonly name: string | undefined;
  readonly overflow_policy: 'refuse' | 'evict' | undefined;
  readonly prefixes: readonly string[];
}

/** A row of Open_vSwitch's table IPFIX. */
export interface IPFIXRow {
  readonly _uuid: Uuid;
  readonly cache_active_timeout: number | undefined;
  readonly cache_max_flows: number | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly obs_domain_id: number | undefined;
  readonly obs_point_id: number | undefined;
  readonly other_config: Readonly<Record<string, string>>;
  readonly sampling: number | undefined;
  readonly stats_interval: number | undefined;
  readonly targets: readonly string[];
  readonly template_interval: number | undefined;
}

/** A row of Open_vSwitch's table Interface. */
export interface InterfaceRow {
  readonly _uuid: Uuid;
  readonly admin_state: 'up' | 'down' | undefined;
  readonly bfd: Readonly<Record<string, string>>;
  readonly bfd_status: Readonly<Record<string, string>>;
  readonly cfm_fault: boolean | undefined;
  readonly cfm_fault_status: readonly string[];
  readonly cfm_flap_count: number | undefined;
  readonly cfm_health: number | undefined;
  readonly cfm_mpid: number | undefined;
  readonly cfm_remote_mpids: readonly number[];
  readonly cfm_remote_opstate: 'up' | 'down' | undefined;
  readonly duplex: 'half' | 'full' | undefined;
  readonly error: string | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly ifindex: number | undefined;
  readonly ingress_policing_burst: number;
  readonly ingress_policing_kpkts_burst: number;
  readonly ingress_policing_kpkts_rate: number;
  readonly ingress_policing_rate: number;
  readonly lacp_current: boolean | undefined;
  readonly link_resets: number | undefined;
  readonly link_speed: number | undefined;
  readonly link_state: 'up' | 'down' | undefined;
  readonly lldp: Readonly<Record<string, string>>;
  readonly mac: string | undefined;
  readonly mac_in_use: string | undefined;
  readonly mtu: number | undefined;
  readonly mtu_request: number | undefined;
  readonly name: string;
  readonly ofport: number | undefined;
  readonly ofport_request: number | undefined;
  readonly options: Readonly<Record<string, string>>;
  readonly other_config: Readonly<Record<string, string>>;
  readonly statistics: Readonly<Record<string, number>>;
  readonly status: Readonly<Record<string, string>>;
  readonly type: string;
}

/** A row of Open_vSwitch's table Manager. */
export interface ManagerRow {
  readonly _uuid: Uuid;
  readonly connection_mode: 'in-band' | 'out-of-band' | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly inactivity_probe: number | undefined;
  readonly is_connected: boolean;
  readonly max_backoff: number | undefined;
  readonly other_config: Readonly<Record<string, string>>;
  readonly status: Readonly<Record<string, string>>;
  readonly target: string;
}

/** A row of Open_vSwitch's table Mirror. */
export interface MirrorRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly filter: string | undefined;
  readonly name: string;
  readonly output_port: Uuid | undefined;
  readonly output_vlan: number | undefined;
  readonly select_all: boolean;
  readonly select_dst_port: readonly Uuid[];
  readonly select_src_port: readonly Uuid[];
  readonly select_vlan: readonly number[];
  readonly snaplen: number | undefined;
  readonly statistics: Readonly<Record<string, number>>;
}

/** A row of Open_vSwitch's table NetFlow. */
export interface NetFlowRow {
  readonly _uuid: Uuid;
  readonly active_timeout: number;
  readonly add_id_to_interface: boolean;
  readonly engine_id: number | undefined;
  readonly engine_type: number | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly targets: readonly string[];
}

/** A row of Open_vSwitch's table Open_vSwitch. */
export interface OpenVSwitchRow {
  readonly _uuid: Uuid;
  readonly bridges: readonly Uuid[];
  readonly cur_cfg: number;
  readonly datapath_types: readonly string[];
  readonly datapaths: Readonly<Record<string, Uuid>>;
  readonly db_version: string | undefined;
  readonly dpdk_initialized: boolean;
  readonly dpdk_version: string | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly iface_types: readonly string[];
  readonly manager_options: readonly Uuid[];
  readonly next_cfg: number;
  readonly other_config: Readonly<Record<string, string>>;
  readonly ovs_version: string | undefined;
  readonly ssl: Uuid | undefined;
  readonly statistics: Readonly<Record<string, string>>;
  readonly system_type: string | undefined;
  readonly system_version: string | undefined;
}

/** A row of Open_vSwitch's table Port. */
export interface PortRow {
  readonly _uuid: Uuid;
  readonly bond_active_slave: string | undefined;
  readonly bond_downdelay: number;
  readonly bond_fake_iface: boolean;
  readonly bond_mode: 'balance-tcp' | 'balance-slb' | 'active-backup' | undefined;
  readonly bond_updelay: number;
  readonly cvlans: readonly number[];
  readonly external_ids: Readonly<Record<string, string>>;
  readonly fake_bridge: boolean;
  readonly interfaces: readonly Uuid[];
  readonly lacp: 'active' | 'passive' | 'off' | undefined;
  readonly mac: string | undefined;
  readonly name: string;
  readonly other_config: Readonly<Record<string, string>>;
  readonly protected: boolean;
  readonly qos: Uuid | undefined;
  readonly rstp_statistics: Readonly<Record<string, number>>;
  readonly rstp_status: Readonly<Record<string, string>>;
  readonly statistics: Readonly<Record<string, number>>;
  readonly status: Readonly<Record<string, string>>;
  readonly tag: number | undefined;
  readonly trunks: readonly number[];
  readonly vlan_mode: 'trunk' | 'access' | 'native-tagged' | 'native-untagged' | 'dot1q-tunnel' | undefined;
}

/** A row of Open_vSwitch's table QoS. */
export interface QoSRow {
  readonly _uuid: Uuid;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly other_config: Readonly<Record<string, string>>;
  readonly queues: Readonly<Record<number, Uuid>>;
  readonly type: string;
}

/** A row of Open_vSwitch's table Queue. */
export interface QueueRow {
  readonly _uuid: Uuid;
  readonly dscp: number | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly other_config: Readonly<Record<string, string>>;
}

/** A row of Open_vSwitch's table SSL. */
export interface SSLRow {
  readonly _uuid: Uuid;
  readonly bootstrap_ca_cert: boolean;
  readonly ca_cert: string;
  readonly certificate: string;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly private_key: string;
}

/** A row of Open_vSwitch's table sFlow. */
export interface SFlowRow {
  readonly _uuid: Uuid;
  readonly agent: string | undefined;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly header: number | undefined;
  readonly polling: number | undefined;
  readonly sampling: number | undefined;
  readonly targets: readonly string[];
}

/** The tables of Open_vSwitch. */
export type OpenVSwitch = {
  readonly AutoAttach: AutoAttachRow;
  readonly Bridge: BridgeRow;
  readonly CT_Timeout_Policy: CTTimeoutPolicyRow;
  readonly CT_Zone: CTZoneRow;
  readonly Controller: ControllerRow;
  readonly Datapath: DatapathRow;
  readonly Flow_Sample_Collector_Set: FlowSampleCollectorSetRow;
  readonly Flow_Table: FlowTableRow;
  readonly IPFIX: IPFIXRow;
  readonly Interface: InterfaceRow;
  readonly Manager: ManagerRow;
  readonly Mirror: MirrorRow;
  readonly NetFlow: NetFlowRow;
  readonly Open_vSwitch: OpenVSwitchRow;
  readonly Port: PortRow;
  readonly QoS: QoSRow;
  readonly Queue: QueueRow;
  readonly SSL: SSLRow;
  readonly sFlow: SFlowRow;
};

/** Open_vSwitch 8.8.0. */
export const openVSwitch: DatabaseModel<OpenVSwitch> = {
  name: 'Open_vSwitch',
  version: '8.8.0',
  tables: {
    AutoAttach: {
      isRoot: false,
      indexes: [],
      columns: {
        mappings: map('integer', 'integer'),
        system_description: scalar('string'),
        system_name: scalar('string'),
      },
    },
    Bridge: {
      isRoot: false,
      indexes: [['name']],
      columns: {
        auto_attach: optional(ref('AutoAttach')),
        controller: set(ref('Controller')),
        datapath_id: optional('string', { ephemeral: true }),
        datapath_type: scalar('string'),
        datapath_version: scalar('string'),
        external_ids: map('string', 'string'),
        fail_mode: optional('string'),
        flood_vlans: set('integer', { max: 4096 }),
        flow_tables: map('integer', ref('Flow_Table')),
        ipfix: optional(ref('IPFIX')),
        mcast_snooping_enable: scalar('boolean'),
        mirrors: set(ref('Mirror')),
        name: scalar('string', { immutable: true }),
        netflow: optional(ref('NetFlow')),
        other_config: map('string', 'string'),
        ports: set(ref('Port')),
        protocols: set('string'),
        rstp_enable: scalar('boolean'),
        rstp_status: map('string', 'string', { ephemeral: true }),
        sflow: optional(ref('sFlow')),
        status: map('string', 'string', { ephemeral: true }),
        stp_enable: scalar('boolean'),
      },
    },
    CT_Timeout_Policy: {
      isRoot: false,
      indexes: [],
      columns: {
        external_ids: map('string', 'string'),
        timeouts: map('string', 'integer'),
      },
    },
    CT_Zone: {
      isRoot: false,
      indexes: [],
      columns: {
        external_ids: map('string', 'string'),
        limit: optional('integer'),
        timeout_policy: optional(ref('CT_Timeout_Policy')),
      },
    },
    Controller: {
      isRoot: false,
      indexes: [],
      columns: {
        connection_mode: optional('string'),
        controller_burst_limit: optional('integer'),
        controller_queue_size: optional('integer'),
        controller_rate_limit: optional('integer'),
        enable_async_messages: optional('boolean'),
        external_ids: map('string', 'string'),
        inactivity_probe: optional('integer'),
        is_connected: scalar('boolean', { ephemeral: true }),
        local_gateway: optional('string'),
        local_ip: optional('string'),
        local_netmask: optional('string'),
        max_backoff: optional('integer'),
        other_config: map('string', 'string'),
        role: optional('string', { ephemeral: true }),
        status: map('string', 'string', { ephemeral: true }),
        target: scalar('string'),
        type: optional('string'),
      },
    },
    Datapath: {
      isRoot: false,
      indexes: [],
      columns: {
        capabilities: map('string', 'string'),
        ct_zone_default_limit: optional('integer'),
        ct_zones: map('integer', ref('CT_Zone')),
        datapath_version: scalar('string'),
        external_ids: map('string', 'string'),
      },
    },
    Flow_Sample_Collector_Set: {
      isRoot: true,
      indexes: [['id', 'bridge']],
      columns: {
        bridge: scalar(ref('Bridge')),
        external_ids: map('string', 'string'),
        id: scalar('integer'),
        ipfix: optional(ref('IPFIX')),
        local_group_id: optional('integer'),
      },
    },
    Flow_Table: {
      isRoot: false,
      indexes: [],
      columns: {
        external_ids: map('string', 'string'),
        flow_limit: optional('integer'),
        groups: set('string'),
        name: optional('string'),
        overflow_policy: optional('string'),
        prefixes: set('string', { max: 4 }),
      },
    },
    IPFIX: {
      isRoot: false,
      indexes: [],
      columns: {
        cache_active_timeout: optional('integer'),
        cache_max_flows: optional('integer'),
        external_ids: map('string', 'string'),
        obs_domain_id: optional('integer'),
        obs_point_id: optional('integer'),
        other_config: map('string', 'string'),
        sampling: optional('integer'),
        stats_interval: optional('integer'),
        targets: set('string'),
        template_interval: optional('integer'),
      },
    },
    Interface: {
      isRoot: false,
      indexes: [['name']],
      columns: {
        admin_state: optional('string', { ephemeral: true }),
        bfd: map('string', 'string'),
        bfd_status: map('string', 'string', { ephemeral: true }),
        cfm_fault: optional('boolean', { ephemeral: true }),
        cfm_fault_status: set('string', { ephemeral: true }),
        cfm_flap_count: optional('integer'),
        cfm_health: optional('integer', { ephemeral: true }),
        cfm_mpid: optional('integer'),
        cfm_remote_mpids: set('integer', { ephemeral: true }),
        cfm_remote_opstate: optional('string', { ephemeral: true }),
        duplex: optional('string', { ephemeral: true }),
        error: optional('string'),
        external_ids: map('string', 'string'),
        ifindex: optional('integer', { ephemeral: true }),
        ingress_policing_burst: scalar('integer'),
        ingress_policing_kpkts_burst: scalar('integer'),
        ingress_policing_kpkts_rate: scalar('integer'),
        ingress_policing_rate: scalar('integer'),
        lacp_current: optional('boolean', { ephemeral: true }),
        link_resets: optional('integer', { ephemeral: true }),
        link_speed: optional('integer', { ephemeral: true }),
        link_state: optional('string', { ephemeral: true }),
        lldp: map('string', 'string'),
        mac: optional('string'),
        mac_in_use: optional('string', { ephemeral: true }),
        mtu: optional('integer', { ephemeral: true }),
        mtu_request: optional('integer'),
        name: scalar('string', { immutable: true }),
        ofport: optional('integer'),
        ofport_request: optional('integer'),
        options: map('string', 'string'),
        other_config: map('string', 'string'),
        statistics: map('string', 'integer', { ephemeral: true }),
        status: map('string', 'string', { ephemeral: true }),
        type: scalar('string'),
      },
    },
    Manager: {
      isRoot: false,
      indexes: [['target']],
      columns: {
        connection_mode: optional('string'),
        external_ids: map('string', 'string'),
        inactivity_probe: optional('integer'),
        is_connected: scalar('boolean', { ephemeral: true }),
        max_backoff: optional('integer'),
        other_config: map('string', 'string'),
        status: map('string', 'string', { ephemeral: true }),
        target: scalar('string'),
      },
    },
    Mirror: {
      isRoot: false,
      indexes: [],
      columns: {
        external_ids: map('string', 'string'),
        filter: optional('string'),
        name: scalar('string'),
        output_port: optional(weakRef('Port')),
        output_vlan: optional('integer'),
        select_all: scalar('boolean'),
        select_dst_port: set(weakRef('Port')),
        select_src_port: set(weakRef('Port')),
        select_vlan: set('integer', { max: 4096 }),
        snaplen: optional('integer'),
        statistics: map('string', 'integer', { ephemeral: true }),
      },
    },
    NetFlow: {
      isRoot: false,
      indexes: [],
      columns: {
        active_timeout: scalar('integer'),
        add_id_to_interface: scalar('boolean'),
        engine_id: optional('integer'),
        engine_type: optional('integer'),
        external_ids: map('string', 'string'),
        targets: set('string', { min: 1 }),
      },
    },
    Open_vSwitch: {
      isRoot: true,
      maxRows: 1,
      indexes: [],
      columns: {
        bridges: set(ref('Bridge')),
        cur_cfg: scalar('integer'),
        datapath_types: set('string'),
        datapaths: map('string', ref('Datapath')),
        db_version: optional('string'),
        dpdk_initialized: scalar('boolean'),
        dpdk_version: optional('string'),
        external_ids: map('string', 'string'),
        iface_types: set('string'),
        manager_options: set(ref('Manager')),
        next_cfg: scalar('integer'),
        other_config: map('string', 'string'),
        ovs_version: optional('string'),
        ssl: optional(ref('SSL')),
        statistics: map('string', 'string', { ephemeral: true }),
        system_type: optional('string'),
        system_version: optional('string'),
      },
    },
    Port: {
      isRoot: false,
      indexes: [['name']],
      columns: {
        bond_active_slave: optional('string'),
        bond_downdelay: scalar('integer'),
        bond_fake_iface: scalar('boolean'),
        bond_mode: optional('string'),
        bond_updelay: scalar('integer'),
        cvlans: set('integer', { max: 4096 }),
        external_ids: map('string', 'string'),
        fake_bridge: scalar('boolean'),
        interfaces: set(ref('Interface'), { min: 1 }),
        lacp: optional('string'),
        mac: optional('string'),
        name: scalar('string', { immutable: true }),
        other_config: map('string', 'string'),
        protected: scalar('boolean'),
        qos: optional(ref('QoS')),
        rstp_statistics: map('string', 'integer', { ephemeral: true }),
        rstp_status: map('string', 'string', { ephemeral: true }),
        statistics: map('string', 'integer', { ephemeral: true }),
        status: map('string', 'string', { ephemeral: true }),
        tag: optional('integer'),
        trunks: set('integer', { max: 4096 }),
        vlan_mode: optional('string'),
      },
    },
    QoS: {
      isRoot: true,
      indexes: [],
      columns: {
        external_ids: map('string', 'string'),
        other_config: map('string', 'string'),
        queues: map('integer', ref('Queue')),
        type: scalar('string'),
      },
    },
    Queue: {
      isRoot: true,
      indexes: [],
      columns: {
        dscp: optional('integer'),
        external_ids: map('string', 'string'),
        other_config: map('string', 'string'),
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
      },
    },
    sFlow: {
      isRoot: false,
      indexes: [],
      columns: {
        agent: optional('string'),
        external_ids: map('string', 'string'),
        header: optional('integer'),
        polling: optional('integer'),
        sampling: optional('integer'),
        targets: set('string', { min: 1 }),
      },
    },
  },
};
