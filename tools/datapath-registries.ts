/** Sections of `docs/registries.md` about what is outside of OVN: the gateway bridge, the host's network stack, nftables. */
import { INTEGRATION_BRIDGE, managementLinkName, patchPortName, vrfName } from '../agent/model/host-names.ts';
import {
  askerCookie,
  COOKIES,
  CT_LABELS,
  CT_MARKS,
  CT_ZONES,
  networkCtMark,
  networkPacketMark,
  PACKET_MARKS,
  PORTS_OF_PODS,
  PROCESS_MARK,
} from '../agent/model/registry/marks.ts';
import { type ChainEntry, markChainName, NFT_CHAINS, NFT_SETS } from '../agent/model/registry/nftables.ts';
import {
  CONJUNCTIONS,
  FLOW_PRIORITIES,
  FLOW_REGISTERS,
  FLOW_TABLES,
  INTEGRATION_FLOWS,
  SENDERS,
} from '../agent/model/registry/openflow.ts';
import {
  MANAGEMENT_PORT_TABLE,
  RULE_PRIORITIES,
  TUNNEL_ROUTE_TABLE,
  UNREACHABLE_METRIC,
  vrfTable,
} from '../agent/model/registry/routing.ts';
import { IPSEC, TUNNEL_PORTS } from '../agent/model/registry/tunnels.ts';
import { FILTER_TABLE, filterChain, LOCKED_SET, sharedChain } from '../datapath/netlink/frame-filter/types.ts';
import { OUR_TABLE } from '../datapath/nftables/types.ts';
import { parseNetworkId } from '../net/ids.ts';
import { parseMac } from '../net/mac.ts';
import { code } from './markdown.ts';

const ONE = parseNetworkId(1);
const GATEWAY = {
  mode: 'shared',
  bridge: 'br-ex',
  interfaceId: 'br-ex_node-1',
  mac: parseMac('02:00:00:00:00:01'),
  addresses: [],
  nextHops: [],
  nodePortEnable: true,
  vlanId: 0,
} as const;

const hex = (value: number | bigint): string => code(`0x${value.toString(16)}`);

export const DATAPATH_SECTIONS = [
  {
    title: 'Tables and priorities of the gateway bridge',
    source: '`agent/model/registry/openflow.ts`',
    about: 'The highest priority of a table that matches wins. `docs/datapath.md` walks packets through it.',
    columns: ['table', 'name', 'priority', 'flow', 'for'],
    rows: () =>
      Object.entries(FLOW_TABLES).flatMap(([table, number]) => {
        const ranks = Object.entries(FLOW_PRIORITIES[table as keyof typeof FLOW_TABLES]) as readonly (readonly [
          string,
          { readonly priority: number; readonly purpose: string },
        ])[];
        if (ranks.length === 0) return [[String(number), code(table), '', '', 'no flows yet']];
        return ranks.map(([name, { priority, purpose }], index) => [
          index === 0 ? String(number) : '',
          index === 0 ? code(table) : '',
          String(priority),
          code(name),
          purpose,
        ]);
      }),
  },
  {
    title: 'Flows of the integration bridge',
    source: '`agent/model/registry/openflow.ts`',
    about: `What ovn-controller cannot do. All other flows of ${code(INTEGRATION_BRIDGE)} are its own.`,
    columns: ['table', 'priority', 'flow', 'for'],
    rows: () =>
      Object.entries(INTEGRATION_FLOWS).map(([name, { table, priority, purpose }]) => [
        String(table),
        String(priority),
        code(name),
        purpose,
      ]),
  },
  {
    title: 'Frame filters',
    source: '`datapath/netlink/frame-filter/types.ts`',
    about: 'Of nftables, but with the links of pods: `docs/adr/0064-filter-what-pods-hear.md`.',
    columns: ['name', 'is', 'for'],
    rows: () => [
      [code(`netdev ${FILTER_TABLE}`), 'table', 'all of them'],
      [
        code(filterChain('LINK')),
        'filter egress 0, policy drop',
        'what a pod receives, by the name of its link on the node; what a port of the host sends',
      ],
      [
        code(sharedChain([]).name.replace(/[0-9a-f]+$/, 'HASH')),
        'chain',
        'rules of many links, to which their chains jump, by what they say',
      ],
      [code(LOCKED_SET), 'set', 'MACs of pods whose interface on the default network is locked'],
    ],
  },
  {
    title: 'Marks, conntrack zones and cookies',
    source: '`agent/model/registry/marks.ts`, `agent/model/registry/openflow.ts`',
    about: 'These identify networks with equal addresses outside of OVN.',
    columns: ['kind', 'of', 'value'],
    rows: () => [
      ...Object.entries(CT_MARKS).map(([name, value]) => ['connection (`ct_mark`)', name, hex(value)]),
      ['connection (`ct_mark`)', 'a user-defined network', `3 + network id; network 1: ${hex(networkCtMark(ONE))}`],
      [
        'packet (`pkt_mark`, fwmark)',
        'a user-defined network',
        `4096 + network id; network 1: ${hex(networkPacketMark(ONE))}`,
      ],
      ...Object.entries(PACKET_MARKS).map(([name, value]) => ['packet (`pkt_mark`, fwmark)', name, hex(value)]),
      ...Object.entries(CT_LABELS).map(([name, value]) => ['connection (`ct_label`)', name, hex(value)]),
      ['bit of packets’ marks', 'what processes of the node give to Open vSwitch', hex(PROCESS_MARK)],
      ...Object.entries(CT_ZONES).map(([name, value]) => ['conntrack zone', name, code(value)]),
      ...Object.entries(COOKIES).map(([name, value]) => ['cookie of flows', name, hex(value)]),
      ['cookie of learned flows', 'a user-defined network', `by network id; network 1: ${hex(askerCookie(ONE))}`],
      ...Object.entries(FLOW_REGISTERS).map(([name, value]) => ['register', name, code(value)]),
      ...Object.entries(SENDERS).map(([name, value]) => [`bit of ${code(FLOW_REGISTERS.sender)}`, name, hex(value)]),
      ...Object.entries(CONJUNCTIONS).map(([name, value]) => ['id of a conjunctive match', name, code(value)]),
    ],
  },
  {
    title: 'Ports of tunnels, and of pods at node addresses',
    source: '`agent/model/registry/tunnels.ts`, `agent/model/registry/marks.ts`',
    about: 'No pod may send to the ends of tunnels: it could inject frames into any network.',
    columns: ['port or protocol', 'for'],
    rows: () => [
      ...TUNNEL_PORTS.map(({ protocol, port, purpose }) => [code(`${protocol} ${port}`), purpose]),
      ...IPSEC.ports.map((port) => [code(`udp ${port}`), 'IKE']),
      [`IP protocols ${code(IPSEC.esp)} and ${code(IPSEC.ah)}`, 'ESP, AH'],
      [code(`${PORTS_OF_PODS.first}-${PORTS_OF_PODS.last}`), 'what networks send out with the node’s address'],
    ],
  },
  {
    title: 'Routing tables and rules',
    source: '`agent/model/registry/routing.ts`',
    about: 'Of the host.',
    columns: ['thing', 'value'],
    rows: () => [
      ['routing table of a network’s VRF', `100000 + network id; network 1: ${code(vrfTable(ONE))}`],
      ['routing table of services whose traffic stays on the node', code(MANAGEMENT_PORT_TABLE)],
      ['routing table of tunnels, userspace datapath', code(TUNNEL_ROUTE_TABLE)],
      ...Object.entries(RULE_PRIORITIES).map(([name, value]) => [`priority of ip rules, ${name}`, code(value)]),
      ['metric of the unreachable default route of a VRF', code(UNREACHABLE_METRIC)],
    ],
  },
  {
    title: 'Names of links and patch ports',
    source: '`agent/model/host-names.ts`',
    about: 'A link’s name has 15 characters at most.',
    columns: ['link or port', 'name', 'example'],
    rows: () => [
      ['the host’s port on a network', 'by network id; 0 is the default network', code(managementLinkName(ONE))],
      [
        'VRF of a ClusterUserDefinedNetwork',
        'its name, where that is no longer than 15 characters and not taken',
        code(vrfName('cluster_udn_blue', ONE)),
      ],
      ['VRF of any other network', 'by network id', code(vrfName('red_red', ONE))],
      [
        `patch port to ${code(INTEGRATION_BRIDGE)}, default network`,
        'by bridge and node',
        code(patchPortName(GATEWAY, 'default', 'node-1')),
      ],
      ['the same, other networks', 'with the prefix of the network', code(patchPortName(GATEWAY, 'red_red', 'node-1'))],
    ],
  },
  {
    title: 'Chains and sets of nftables',
    source: '`agent/model/registry/nftables.ts`',
    about: `All are in the table ${code(`${OUR_TABLE.family} ${OUR_TABLE.name}`)}.`,
    columns: ['chain, set or map', 'hook', 'for'],
    rows: () => [
      ...Object.values(NFT_CHAINS).map(({ name, hook, purpose }: ChainEntry) => [
        code(name),
        hook === undefined ? 'jumped to' : `${hook.type} ${hook.hook} ${hook.priority}`,
        purpose,
      ]),
      [code(markChainName(networkPacketMark(ONE))), 'jumped to', 'sets the packet mark of network 1'],
      ...Object.values(NFT_SETS).map(({ name, purpose }) => [code(name), 'set or map', purpose]),
    ],
  },
] as const;
