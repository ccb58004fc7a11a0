/** Builders of flows, groups and their parts, written as ovs-ofctl(8) prints them. */
import type { Action, BridgeItem, Flow, Match } from '../../../../datapath/openflow/types.ts';
import { type Cidr, prefixLength } from '../../../../net/cidr.ts';
import { addressBits, type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import { COOKIES } from '../../../model/registry/marks.ts';
import { FLOW_PRIORITIES, FLOW_REGISTERS, FLOW_TABLES, type FlowTable } from '../../../model/registry/openflow.ts';

export interface FlowSpec {
  readonly inPort?: string | undefined;
  readonly match?: Match;
  readonly actions: readonly Action[];
  readonly cookie?: bigint;
  /** See `Flow`. */
  readonly mayLackPort?: true;
}

/** @param rank name of a priority of the table, see `FLOW_PRIORITIES` */
export const flow = <Table extends FlowTable>(
  table: Table,
  rank: keyof (typeof FLOW_PRIORITIES)[Table],
  { inPort, match = {}, actions, cookie = COOKIES.default, mayLackPort }: FlowSpec,
): Flow => {
  const { priority } = FLOW_PRIORITIES[table][rank] as { readonly priority: number };
  return {
    table: FLOW_TABLES[table],
    priority,
    cookie,
    ...(inPort === undefined ? {} : { inPort }),
    match,
    actions,
    ...(mayLackPort && { mayLackPort }),
  };
};

export const onBridge = (bridge: string, flows: readonly Flow[]): BridgeItem[] =>
  flows.map((one) => ({ bridge, kind: 'flow', flow: one }));

export const DROP: readonly Action[] = [];
export const NORMAL: Action = 'NORMAL';
export const output = (port: string): Action => ({ output: port });

interface Ends {
  readonly src?: Ip | Cidr | undefined;
  readonly dst?: Ip | Cidr | undefined;
}

/** IP packets of a family from and to addresses or subnets. @param protocol also of this transport protocol */
export const ip = (family: Family, { src, dst }: Ends = {}, protocol?: 'tcp' | 'udp' | 'sctp' | 'icmp'): Match => ({
  [protocolName(family, protocol)]: true,
  ...(src === undefined ? {} : { [family === 4 ? 'nw_src' : 'ipv6_src']: subnetText(src) }),
  ...(dst === undefined ? {} : { [family === 4 ? 'nw_dst' : 'ipv6_dst']: subnetText(dst) }),
});

const protocolName = (family: Family, protocol: string | undefined): string => {
  if (protocol === undefined) return family === 4 ? 'ip' : 'ipv6';
  return family === 4 ? protocol : `${protocol}6`;
};

/** Without a prefix length of all bits. */
const subnetText = (address: Ip | Cidr): string => {
  if (!address.includes('/')) return address;
  const [base = ''] = address.split('/');
  return prefixLength(address as Cidr) === addressBits(ipFamily(base as Ip)) ? base : address;
};

/** Neighbour discovery, RFC 4861 §4: 134 router, 136 neighbour advertisement, 135 neighbour solicitation. */
export const neighbourDiscovery = (type: 134 | 135 | 136, fields: Match = {}): Match => ({
  icmp6: true,
  icmp_type: String(type),
  ...(Object.keys(fields).some((field) => field.startsWith('nd_')) ? { icmp_code: '0' } : {}),
  ...fields,
});

export const ARP_REQUEST: Match = { arp: true, arp_op: '1' };

export interface Conntrack {
  readonly zone: number;
  readonly commit?: boolean;
  /** Where the packet goes on; absent: the next action. */
  readonly table?: FlowTable;
  /** `true`: as the connection has been translated before. */
  readonly nat?:
    | true
    | { readonly src: Ip; readonly ports?: { readonly first: number; readonly last: number } | undefined }
    | { readonly dst: Ip };
  readonly mark?: ConnectionMark;
  readonly label?: number;
}

/** `ofSender`: of the network that has sent the packet (`senders`), so that one flow does for all of them. */
export type ConnectionMark = number | 'ofSender';

/** ovs-actions(7), "The ct Action". */
export const ct = ({ zone, commit = false, table, nat, mark, label }: Conntrack): Action =>
  `ct(${[
    ...(commit ? ['commit'] : []),
    ...(table === undefined ? [] : [`table=${FLOW_TABLES[table]}`]),
    `zone=${zone}`,
    ...(nat === undefined ? [] : [natText(nat)]),
    ...exec([
      ...(mark === undefined ? [] : [setMark(mark)]),
      ...(label === undefined ? [] : [setField('ct_label', label)]),
    ]),
  ].join(',')})`;

const exec = (actions: readonly string[]): string[] => (actions.length === 0 ? [] : [`exec(${actions.join(',')})`]);

const setMark = (mark: ConnectionMark): string =>
  mark === 'ofSender' ? `move:${FLOW_REGISTERS.networkMark}[]->ct_mark[]` : setField('ct_mark', mark);

export const setField = (name: string, value: number): string => `set_field:${hex(value)}->${name}`;

const natText = (nat: NonNullable<Conntrack['nat']>): string => {
  if (nat === true) return 'nat';
  if ('dst' in nat) return `nat(dst=${nat.dst})`;
  const { src, ports } = nat;
  if (ports === undefined) return `nat(src=${src})`;
  return `nat(src=${ipFamily(src) === 6 ? `[${src}]` : src}:${ports.first}-${ports.last})`;
};

export const hex = (value: number): string => `0x${value.toString(16)}`;
