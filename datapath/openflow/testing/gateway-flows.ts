/** One flow of every kind that a gateway bridge has, in both families, as features write them. */
import type { Action, BridgeItem, Flow, Match } from '../types.ts';

export const UPLINK = 'eth0';
export const DEFAULT_PATCH = 'patch-br-ex_node1-to-br-int';
export const NETWORK_PATCH = 'patch-tenant.blue_br-ex_node1-to-br-int';
export const COOKIE = 0xdeff105n;
export const PATH_MTU_COOKIE = 0x304n;
export const ARP_COOKIE = 0x305n;
export const COOKIES = [COOKIE, PATH_MTU_COOKIE, ARP_COOKIE];
export const FLOOD_GROUP = 5;

const MAC = '0a:58:64:40:00:01';
const to = (port: string): Action => ({ output: port });

interface Family {
  readonly ip: 'ip' | 'ipv6';
  readonly suffix: '' | '6';
  readonly src: string;
  readonly dst: string;
  readonly node: string;
  readonly ours: string;
  readonly theirs: string;
  readonly services: string;
  readonly network: string;
}

const FAMILIES: readonly Family[] = [
  {
    ip: 'ip',
    suffix: '',
    src: 'nw_src',
    dst: 'nw_dst',
    node: '172.18.0.2',
    ours: '169.254.0.1',
    theirs: '169.254.0.2',
    services: '10.96.0.0/16',
    network: '169.254.0.11/32',
  },
  {
    ip: 'ipv6',
    suffix: '6',
    src: 'ipv6_src',
    dst: 'ipv6_dst',
    node: 'fd00:10::0002',
    ours: 'fd69::1',
    theirs: 'fd69:0::2',
    services: 'fd00:10:96::/112',
    network: 'fd69::b/128',
  },
];

const flow = (
  position: readonly [table: number, priority: number],
  inPort: string | undefined,
  match: Match,
  actions: readonly Action[],
  cookie = COOKIE,
): Flow => ({ table: position[0], priority: position[1], cookie, inPort, match, actions });

const commit = (mark: string, nat = ''): string => `ct(commit,zone=64000${nat},exec(set_field:${mark}->ct_mark))`;

const firstTable = ({ ip, suffix, src, dst, node, ours, theirs, services, network }: Family): Flow[] => {
  const all: Match = { [ip]: true };
  const icmp: Match =
    suffix === ''
      ? { icmp: true, icmp_type: '3', icmp_code: '4' }
      : { icmp6: true, icmpv6_type: '2', icmpv6_code: '0' };
  return [
    flow([0, 700], DEFAULT_PATCH, { ...icmp, [dst]: node }, [], PATH_MTU_COOKIE),
    flow([0, 650], DEFAULT_PATCH, { dl_src: MAC, [`udp${suffix}`]: true, tp_dst: '3784' }, [to(UPLINK)]),
    flow([0, 550], 'LOCAL', { ...all, [src]: network, [dst]: services }, ['ct(commit,zone=64001,table=2)']),
    flow([0, 500], DEFAULT_PATCH, { ...all, [dst]: theirs, [src]: node }, [
      `ct(commit,zone=64001,nat(dst=${node}),table=4)`,
    ]),
    flow([0, 500], 'LOCAL', { ...all, [dst]: ours }, ['ct(zone=64002,nat,table=5)']),
    flow([0, 500], 'LOCAL', { ...all, [dst]: services }, [`ct(commit,zone=64001,nat(src=${theirs}),table=2)`]),
    flow([0, 500], DEFAULT_PATCH, { ...all, [src]: services, [dst]: theirs }, ['ct(zone=64001,nat,table=3)']),
    flow([0, 205], UPLINK, { dl_dst: MAC, [`udp${suffix}`]: true, udp_dst: '6081' }, [to('LOCAL')]),
    flow([0, 200], UPLINK, { [`udp${suffix}`]: true, udp_dst: '6081' }, ['NORMAL']),
    ...['tcp', 'udp', 'sctp'].map((protocol) =>
      flow([0, 175], DEFAULT_PATCH, { [`${protocol}${suffix}`]: true, [src]: node }, ['ct(table=4,zone=64001)']),
    ),
    flow([0, 115], NETWORK_PATCH, { ...all, [dst]: services }, []),
    flow([0, 110], UPLINK, { ...all, nw_frag: 'yes' }, ['ct(table=0,zone=64004)']),
    flow([0, 109], UPLINK, { [`tcp${suffix}`]: true, tp_dst: '30080' }, [to(NETWORK_PATCH)]),
    flow([0, 108], 'LOCAL', { [`tcp${suffix}`]: true, tp_src: '8080' }, ['ct(zone=64003,nat,table=7)']),
    flow([0, 107], UPLINK, { [`tcp${suffix}`]: true, tp_dst: '30081' }, [
      `ct(commit,zone=64003,nat(dst=${suffix === '' ? node : `[${node}]`}:8080),table=6)`,
    ]),
    flow([0, 105], DEFAULT_PATCH, { dl_src: MAC, ...all, pkt_mark: '0x3f0' }, [
      commit('0x1', `,nat(src=${node})`),
      to(UPLINK),
    ]),
    flow([0, 105], NETWORK_PATCH, { dl_src: MAC, ...all, pkt_mark: '50000' }, [
      commit('0x4', `,nat(src=${node})`),
      to(UPLINK),
    ]),
    flow([0, 100], DEFAULT_PATCH, { dl_src: MAC, ...all }, [commit('0x1'), to(UPLINK)]),
    flow([0, 100], NETWORK_PATCH, { dl_src: MAC, ...all, [src]: network }, [
      commit('4', `,nat(src=${node})`),
      to(UPLINK),
    ]),
    flow([0, 100], 'LOCAL', all, [commit('0x2'), 'mod_vlan_vid:7', to(UPLINK)]),
    flow([0, 50], undefined, { ...all, dl_dst: MAC }, ['ct(zone=64000,nat,table=1)']),
  ];
};

const laterTables = ({ ip, src, ours, network }: Family): Flow[] => {
  const all: Match = { [ip]: true };
  return [
    ...['+trk+est', '+trk+rel'].flatMap((ct_state) => [
      flow([1, 100], undefined, { ...all, ct_state, ct_mark: '0x1' }, [
        'check_pkt_larger(1414)->reg0[0]',
        'resubmit(,11)',
      ]),
      flow([1, 100], undefined, { ...all, ct_state, ct_mark: '4' }, [to(NETWORK_PATCH)]),
      flow([1, 100], undefined, { ...all, dl_vlan: '7', ct_state, ct_mark: '0x2' }, ['strip_vlan', to('LOCAL')]),
    ]),
    flow([2, 250], undefined, { ...all, pkt_mark: '0x1001' }, [
      `set_field:${MAC}->eth_dst`,
      'mod_vlan_vid:7',
      to(NETWORK_PATCH),
    ]),
    flow([2, 200], undefined, { ...all, [src]: network }, []),
    flow([4, 0], undefined, all, [`ct(commit,zone=64002,nat(src=${ours}),table=3)`]),
    flow([5, 100], undefined, { ...all, ct_mark: '0x4' }, [
      'ct(commit,zone=64001,nat)',
      `mod_dl_dst:${MAC}`,
      to(NETWORK_PATCH),
    ]),
    flow([5, 0], undefined, all, ['ct(commit,zone=64001,nat,table=2)']),
  ];
};

const neighbours = (): Flow[] => [
  flow(
    [0, 499],
    DEFAULT_PATCH,
    { dl_dst: 'ff:ff:ff:ff:ff:ff', arp: true, arp_op: '1', arp_spa: '172.18.0.2' },
    ['output:NORMAL'],
    ARP_COOKIE,
  ),
  flow([0, 498], DEFAULT_PATCH, { dl_dst: 'ff:ff:ff:ff:ff:ff', arp: true, arp_op: '1' }, [], ARP_COOKIE),
  ...['135', '136'].map((type) =>
    flow([0, 102], 'LOCAL', { dl_src: MAC, icmp6: true, icmpv6_type: type }, [commit('0x2'), 'NORMAL']),
  ),
  flow([0, 12], undefined, { dl_vlan: '7', arp: true, arp_op: '1', arp_tpa: '172.18.0.2' }, [
    to(DEFAULT_PATCH),
    'NORMAL',
  ]),
  flow([0, 12], undefined, { icmp6: true, icmpv6_type: '135', nd_target: 'fd00:10::2' }, [to(DEFAULT_PATCH), 'NORMAL']),
  flow([0, 11], UPLINK, { dl_dst: 'ff:ff:ff:ff:ff:ff', arp: true }, [`group:${FLOOD_GROUP}`, 'NORMAL']),
  flow([0, 11], UPLINK, { dl_dst: '33:33:00:00:00:01', icmp6: true, icmpv6_type: '136' }, [
    `group:${FLOOD_GROUP}`,
    'NORMAL',
  ]),
  flow([1, 14], undefined, { icmp6: true, icmpv6_type: '134' }, [`group:${FLOOD_GROUP}`, 'FLOOD']),
];

const plain = (): Flow[] => [
  flow([0, 10], undefined, { dl_vlan: '7', dl_dst: MAC.toUpperCase() }, [`group:${FLOOD_GROUP}`, 'NORMAL']),
  flow([0, 10], NETWORK_PATCH, { dl_src: MAC }, ['output:NORMAL']),
  flow([0, 9], NETWORK_PATCH, {}, []),
  flow([0, 0], undefined, {}, ['NORMAL']),
  flow([1, 10], undefined, { dl_vlan: '7', dl_dst: MAC }, ['strip_vlan', to('LOCAL')]),
  flow([1, 0], undefined, {}, ['output:NORMAL']),
  flow([2, 100], undefined, {}, [`set_field:${MAC}->eth_dst`, to(DEFAULT_PATCH)]),
  flow([3, 32_768], undefined, {}, [
    'move:NXM_OF_ETH_DST[]->NXM_OF_ETH_SRC[]',
    `set_field:${MAC}->eth_dst`,
    to('LOCAL'),
  ]),
  flow([3, 32_769], undefined, { dl_vlan: '7' }, [
    'move:eth_dst[]->eth_src[]',
    'load:0x5->NXM_NX_REG1[4..7]',
    'pop_vlan',
    to('LOCAL'),
  ]),
  flow([6, 110], undefined, {}, [to('LOCAL')]),
  flow([7, 110], undefined, {}, [to(UPLINK)]),
  flow([11, 10], undefined, { reg0: '0x1' }, [to('LOCAL')]),
  flow([11, 5], undefined, { ct_mark: '0x4' }, [to(NETWORK_PATCH)]),
  flow([11, 1], undefined, {}, [to(DEFAULT_PATCH)]),
];

export const gatewayFlows = (): Flow[] => [
  ...FAMILIES.flatMap(firstTable),
  ...FAMILIES.flatMap(laterTables),
  ...neighbours(),
  ...plain(),
];

export const gatewayItems = (bridge: string): BridgeItem[] => [
  ...gatewayFlows().map((one): BridgeItem => ({ bridge, kind: 'flow', flow: one })),
  { bridge, kind: 'group', group: { id: FLOOD_GROUP } },
  { bridge, kind: 'bucket', bucket: { group: FLOOD_GROUP, id: 0, actions: [to(DEFAULT_PATCH)] } },
  {
    bridge,
    kind: 'bucket',
    bucket: { group: FLOOD_GROUP, id: 1, actions: ['mod_dl_dst:0a:58:64:40:00:02', to(NETWORK_PATCH)] },
  },
  { bridge, kind: 'noFlood', noFlood: { port: NETWORK_PATCH } },
];
