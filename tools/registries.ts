/** `docs/registries.md`: every number and name that has one place in the code, as tables made from that place. */
import { OWNER_KEY, POD_PORT_KEY } from '../agent/model/ownership.ts';
import { ACL_RANKS } from '../agent/model/registry/acls.ts';
import { QOS_PRIORITIES } from '../agent/model/registry/qos.ts';
import { ROUTER_POLICY_PRIORITIES } from '../agent/model/registry/router-policies.ts';
import { transitPortKey, transitRouterPortKey } from '../agent/model/registry/tunnel-keys.ts';
import {
  CLUSTER_SETTINGS,
  MASQUERADE_OFFSETS,
  masqueradeAddresses,
  parseClusterConfig,
} from '../api/cluster-config.ts';
import { CNI_ERROR_CODES } from '../api/cni/error.ts';
import { networkMasqueradeAddresses } from '../api/masquerade.ts';
import {
  CNI_PLUGIN_TYPE,
  DEFAULT_INTERFACE,
  NAD_ANNOTATIONS,
  NAMESPACE_ANNOTATIONS,
  NODE_ANNOTATIONS,
  POD_ANNOTATIONS,
  PRIMARY_INTERFACE,
  PRIMARY_NETWORK_LABEL,
  RESERVED_NETWORK_NAMES,
  UDN_FINALIZER,
  UDN_LABEL,
} from '../api/names.ts';
import { gatewayIp, managementIp } from '../api/network.ts';
import {
  FIRST_ALLOCATED_KEY,
  LAST_ALLOCATED_KEY,
  networkDatapathKey,
  nodeJoinAddresses,
  nodeLinkAddresses,
  nodeTransitAddresses,
} from '../api/network-keys.ts';
import { FIRST_POD_KEY } from '../api/pod-entry-rules.ts';
import { DYING_LINK_GROUP, POD_LINK_GROUP } from '../api/pod-links.ts';
import { FIRST_NODE_ID, LAST_NODE_ID } from '../cluster-manager/allocation/node-allocations.ts';
import { NETWORK_MANAGER, USAGE_MANAGER } from '../cluster-manager/controllers/network-status.ts';
import { FIELD_MANAGER } from '../cluster-manager/field-manager.ts';
import { ALIAS_PREFIX } from '../datapath/netlink/pod-interface/marks.ts';
import { OUR_PROTOCOL } from '../datapath/netlink/route/types.ts';
import { parseCidr } from '../net/cidr.ts';
import { MAX_NETWORKS, parseNetworkId, parseNodeId } from '../net/ids.ts';
import { LOG_FIELDS } from '../program/log-fields.ts';
import { DATAPATH_SECTIONS } from './datapath-registries.ts';
import { code, markdownTable } from './markdown.ts';
import { ROW_NAMES } from './row-names.ts';

/** Path from the repository's root → content. */
export const registryDocs = (): Record<string, string> => ({ 'docs/registries.md': text() });

const text = (): string =>
  `${[
    '# Registries',
    'Numbers and names that have one place in the code. This page is made from that place by `make gen`; `make check`' +
      ' fails when it is not current. Do not edit it.',
    ...SECTIONS.map(
      ({ title, source, about, columns, rows }) =>
        `## ${title}\n\n${about} Source: ${source}.\n\n${markdownTable(columns, rows())}`,
    ),
  ].join('\n\n')}\n`;

interface Section {
  readonly title: string;
  readonly source: string;
  /** Messages. */
  readonly about: string;
  readonly columns: readonly string[];
  readonly rows: () => readonly (readonly string[])[];
}

const config = parseClusterConfig();
const GATEWAYS = { defaultGatewayIps: [], infrastructureSubnets: [] };
const SUBNET = parseCidr('10.100.1.0/24');

const list = (values: readonly (string | number)[]): string => values.map(code).join(', ');

const SECTIONS: readonly Section[] = [
  {
    title: 'ACL tiers and priorities',
    source: '`agent/model/registry/acls.ts`',
    about: 'OVN looks at tier 0 first, and within a tier the highest priority wins.',
    columns: ['name', 'tier', 'priority', 'for'],
    rows: () =>
      Object.entries(ACL_RANKS).map(([name, { tier, priority, purpose }]) => [
        code(name),
        String(tier),
        String(priority),
        purpose,
      ]),
  },
  {
    title: 'Priorities of router policies',
    source: '`agent/model/registry/router-policies.ts`',
    about: 'Of cluster routers and transit routers; the highest that matches wins.',
    columns: ['name', 'priority', 'for'],
    rows: () =>
      Object.entries(ROUTER_POLICY_PRIORITIES).map(([name, { priority, purpose }]) => [
        code(name),
        String(priority),
        purpose,
      ]),
  },
  {
    title: 'Priorities of QoS rows',
    source: '`agent/model/registry/qos.ts`',
    about: 'The highest that matches wins.',
    columns: ['name', 'priority', 'for'],
    rows: () =>
      Object.entries(QOS_PRIORITIES).map(([name, { priority, purpose }]) => [code(name), String(priority), purpose]),
  },
  {
    title: 'Ids',
    source: '`net/ids.ts`, `cluster-manager/allocation/node-allocations.ts`',
    about: 'Small integers from which keys and addresses derive.',
    columns: ['id', 'range', 'given by'],
    rows: () => [
      [
        'network',
        `1 to ${MAX_NETWORKS - 1}; 0 is the default network`,
        'the cluster manager: one that was never used, else the one that is free for longest',
      ],
      ['node', `${FIRST_NODE_ID} to ${LAST_NODE_ID}`, 'the cluster manager, lowest free'],
    ],
  },
  {
    title: 'Tunnel keys',
    source:
      '`api/network-keys.ts`, `agent/model/registry/tunnel-keys.ts`, `cluster-manager/allocation/address-ledger.ts`',
    about: 'What all zones must agree on, because packets in the tunnels carry it.',
    columns: ['key of', 'space', 'value', 'example'],
    rows: () => [
      [
        'transit switch of a layer-3 network, switch of a primary layer-2 network',
        'datapath',
        `${code(networkDatapathKey(parseNetworkId(0)))} + network id`,
        `network 1: ${code(networkDatapathKey(parseNetworkId(1)))}`,
      ],
      [
        'transit router of a primary layer-2 network',
        'datapath',
        `${code(FIRST_ALLOCATED_KEY)} to ${code(LAST_ALLOCATED_KEY)}: the first one + id - 1`,
        'second value of the NAD’s tunnel-keys annotation',
      ],
      ['port of a node on a transit switch', 'port', 'node id', `node 2: ${code(transitPortKey(parseNodeId(2)))}`],
      [
        'port of a transit router to a node’s gateway router',
        'port',
        '10 + node id',
        `node 2: ${code(transitRouterPortKey(parseNodeId(2)))}`,
      ],
      ['port of a pod on a layer-2 network', 'port', `from ${code(FIRST_POD_KEY)}, lowest free`, ''],
    ],
  },
  {
    title: 'Address ranges of the cluster',
    source: '`api/cluster-config.ts`',
    about: 'Every program of a cluster must get the same.',
    columns: ['flag', 'environment', '`--set` of `udnctl render`', 'default', 'meaning'],
    rows: () =>
      CLUSTER_SETTINGS.map(({ setting, flag, env, defaultText, help }) => [
        code(`--${flag}`),
        code(env),
        code(setting),
        code(defaultText),
        help,
      ]),
  },
  {
    title: 'Reserved addresses',
    source: '`api/network.ts`, `api/network-keys.ts`, `api/cluster-config.ts`',
    about: 'No pod gets these. Examples are for the defaults above.',
    columns: ['address', 'where', 'example'],
    rows: () => [
      [
        'gateway of pods',
        '`defaultGatewayIPs`, or the first address of `infrastructureSubnets` or of a subnet',
        `${code(SUBNET)}: ${code(gatewayIp(GATEWAYS, SUBNET))}`,
      ],
      [
        'management port',
        'next address of `infrastructureSubnets`, or second one of a subnet, or the first where the gateway has the second',
        `${code(SUBNET)}: ${code(managementIp(GATEWAYS, SUBNET))}`,
      ],
      [
        'node on the transit switches',
        'transit subnets, at the node id',
        `node 2: ${list(nodeTransitAddresses(config.transitSubnets, parseNodeId(2)))}`,
      ],
      [
        'cluster router and gateway routers on the join switch, or gateway router of layer 2',
        'join subnets, at 1 and at the node id',
        `node 2: ${list(nodeJoinAddresses(config.udnJoinSubnets, parseNodeId(2)) ?? [])}`,
      ],
      [
        'link of transit router and gateway router, layer 2',
        'transit subnets, at twice the node id and the next',
        `node 2: ${list(
          (nodeLinkAddresses(config.transitSubnets, parseNodeId(2)) ?? []).flatMap(
            ({ transitRouter, gatewayRouter }) => [transitRouter, gatewayRouter],
          ),
        )}`,
      ],
      ...(['gateway', 'management'] as const).map((end) => [
        `masquerade, ${end} ${end === 'gateway' ? 'router' : 'port'} of a network`,
        `masquerade subnets, at ${end === 'gateway' ? 9 : 10} + twice the network id`,
        `network 1: ${list(networkMasqueradeAddresses(config, parseNetworkId(1), end) ?? [])}`,
      ]),
      ...Object.entries(MASQUERADE_OFFSETS).map(([name, offset]) => [
        `masquerade, ${name}`,
        `masquerade subnets, at ${offset}`,
        list(masqueradeAddresses(config, name as keyof typeof MASQUERADE_OFFSETS)),
      ]),
    ],
  },
  {
    title: 'Names',
    source: '`api/names.ts`',
    about: 'What users and other tools see.',
    columns: ['thing', 'name'],
    rows: () => [
      ['CNI plugin, `type` of configurations', code(CNI_PLUGIN_TYPE)],
      ['interface of a pod on the default network', code(DEFAULT_INTERFACE)],
      ['interface of a pod on its primary network', code(PRIMARY_INTERFACE)],
      ['label of a namespace: its pods use the primary network', code(PRIMARY_NETWORK_LABEL)],
      ['label of a NAD that was rendered', code(UDN_LABEL)],
      ['finalizer of networks and their NADs', code(UDN_FINALIZER)],
      [
        'names that no network may have',
        RESERVED_NETWORK_NAMES.map((name) => (name === '' ? 'empty' : code(name))).join(', '),
      ],
    ],
  },
  {
    title: 'Annotations',
    source: '`api/names.ts`',
    about:
      'Keys that this project reads or writes, and some that it only knows; `docs/architecture.md` says who writes which.',
    columns: ['of', 'meaning', 'annotation'],
    rows: () =>
      Object.entries({
        Node: NODE_ANNOTATIONS,
        NetworkAttachmentDefinition: NAD_ANNOTATIONS,
        Namespace: NAMESPACE_ANNOTATIONS,
        Pod: POD_ANNOTATIONS,
      }).flatMap(([kind, names]) => Object.entries(names).map(([name, key]) => [kind, name, code(key)])),
  },
  {
    title: 'Names of OVN rows',
    source: '`agent/model/names.ts`',
    about: 'Network `red_red` is that of UserDefinedNetwork `red/red`, the node is `node-1`, the pod `red/web`.',
    ...ROW_NAMES,
  },
  {
    title: 'Marks of ownership',
    source:
      '`agent/model/ownership.ts`, `datapath/netlink/pod-interface/marks.ts`, `datapath/netlink/route/types.ts`, `cluster-manager/controllers/`',
    about: 'Objects with a mark are owned by ovn-udn; those without are never changed or deleted.',
    columns: ['of', 'mark', 'value'],
    rows: () => [
      ['rows that features want', 'an entry of `external_ids`; its value is the row’s key', code(OWNER_KEY)],
      [
        'OVS ports and interfaces of pods',
        'an entry of `external_ids`; its value is the port’s name',
        code(POD_PORT_KEY),
      ],
      ['links', 'group of both ends of a pair', `${code(POD_LINK_GROUP)} (the letters “udn”)`],
      ['links that are being deleted', 'group', code(DYING_LINK_GROUP)],
      ['links', 'prefix of the alias of the node’s end', code(ALIAS_PREFIX)],
      ['routes in pods', 'protocol', code(OUR_PROTOCOL)],
      ['writes of the agent to the API', 'field manager', code('udn-agent')],
      [
        'NADs and the ids of new ones, finalizers; status of networks, but not how full they are',
        'field manager',
        code(NETWORK_MANAGER),
      ],
      ['pods, nodes and usage of networks', 'field manager', code(USAGE_MANAGER)],
      ['annotations of nodes, NADs and layer-2 pods', 'field manager', code(FIELD_MANAGER)],
    ],
  },
  ...DATAPATH_SECTIONS,
  {
    title: 'CNI error codes',
    source: '`api/cni/error.ts`',
    about: 'What to do about each is in `docs/errors.md`.',
    columns: ['code', 'reason'],
    rows: () => Object.entries(CNI_ERROR_CODES).map(([reason, value]) => [String(value), code(reason)]),
  },
  {
    title: 'Fields of log lines',
    source: '`program/log-fields.ts`',
    about:
      'Logs are JSON, one line for each thing (pino); `level`, `time`, `pid`, `hostname`, `name` and `msg` are on every line.',
    columns: ['field', 'meaning'],
    rows: () => Object.entries(LOG_FIELDS).map(([field, meaning]) => [code(field), meaning]),
  },
];
