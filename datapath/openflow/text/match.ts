/** Matches in one form: two texts are equal exactly if a bridge takes the flows for the same one. */
import { invalid } from '../errors.ts';
import { fieldByName } from './fields.ts';
import { canonicalValue, hex, parseNumber } from './values.ts';

export interface CanonicalMatch {
  /** Without table and priority; empty for all packets. As ovs-ofctl reads it. */
  readonly text: string;
  readonly hasVlan: boolean;
  /** What the match says of the protocol: names such as `tp_src` depend on it. */
  readonly transport: 'tcp' | 'udp' | 'sctp' | undefined;
}

/** @throws OpenflowError ERR_OPENFLOW_INVALID if it contradicts itself, or a value is none of its field */
export const canonicalMatch = (entries: Iterable<readonly [string, string | true]>): CanonicalMatch => {
  const draft: Draft = { ethType: undefined, ipProto: undefined, fields: new Map() };
  for (const [name, value] of entries) {
    if (value === true) addKeyword(draft, name);
    else addField(draft, name, value);
  }
  const { fields } = draft;
  const protocol = protocolOf(draft);
  const inPort = fields.get('in_port');
  fields.delete('in_port');
  const rest = [...fields].map(([name, value]) => `${name}=${value}`).sort();
  const text = [...protocol, ...(inPort === undefined ? [] : [`in_port=${inPort}`]), ...rest].join(',');
  return { text, hasVlan: hasVlan(fields), transport: TRANSPORTS[draft.ipProto ?? -1] };
};

interface Draft {
  ethType: number | undefined;
  ipProto: number | undefined;
  readonly fields: Map<string, string>;
}

const IP = 0x0800;
const IPV6 = 0x86dd;

/** Keyword → EtherType and IP protocol. */
const KEYWORDS: Readonly<Record<string, readonly [number, number?]>> = {
  ip: [IP],
  ipv4: [IP],
  ipv6: [IPV6],
  icmp: [IP, 1],
  icmp6: [IPV6, 58],
  tcp: [IP, 6],
  tcp6: [IPV6, 6],
  udp: [IP, 17],
  udp6: [IPV6, 17],
  sctp: [IP, 132],
  sctp6: [IPV6, 132],
  arp: [0x0806],
  rarp: [0x8035],
  mpls: [0x8847],
  mplsm: [0x8848],
};

const KEYWORD_OF = new Map(
  Object.entries(KEYWORDS)
    .filter(([keyword]) => keyword !== 'ipv4')
    .map(([keyword, [ethType, ipProto]]) => [`${ethType} ${ipProto ?? ''}`, keyword]),
);

const TRANSPORTS: Readonly<Record<number, 'tcp' | 'udp' | 'sctp'>> = { 6: 'tcp', 17: 'udp', 132: 'sctp' };

const addKeyword = (draft: Draft, keyword: string): void => {
  const [ethType, ipProto] = (Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined) ?? [];
  if (ethType === undefined) throw invalid(`${JSON.stringify(keyword)} is not a protocol`);
  draft.ethType = sameOr('dl_type', draft.ethType, ethType);
  if (ipProto !== undefined) draft.ipProto = sameOr('nw_proto', draft.ipProto, ipProto);
};

const addField = (draft: Draft, name: string, value: string): void => {
  const field = fieldByName(name);
  const match = field?.match ?? name;
  if (match === 'dl_type' && !value.includes('/')) {
    draft.ethType = sameOr(match, draft.ethType, Number(parseNumber(value)));
    return;
  }
  if (match === 'nw_proto' && !value.includes('/')) {
    draft.ipProto = sameOr(match, draft.ipProto, Number(parseNumber(value)));
    return;
  }
  const [as, printed] = special(match, value) ?? [match, field === undefined ? value : canonicalValue(field, value)];
  if (printed !== undefined) draft.fields.set(as, sameOr(as, draft.fields.get(as), printed));
};

const sameOr = <T>(name: string, before: T | undefined, value: T): T => {
  if (before !== undefined && before !== value) throw invalid(`${name} is both ${before} and ${value}`);
  return value;
};

type Printed = readonly [name: string, value: string | undefined];

const VLAN_PRESENT = 0x1000n;

/** Fields that are printed as others than those they were written as. */
const special = (match: string, value: string): Printed | undefined => {
  if (value.includes('/')) return undefined;
  switch (match) {
    case 'vlan_vid':
      return (parseNumber(value) & VLAN_PRESENT) === 0n ? undefined : ['dl_vlan', `${parseNumber(value) & 0xfffn}`];
    case 'dl_vlan':
      return parseNumber(value) === 0xffffn ? NO_VLAN : ['dl_vlan', `${parseNumber(value)}`];
    case 'vlan_tci':
      return parseNumber(value) === 0n ? NO_VLAN : undefined;
    case 'ip_dscp':
      return ['nw_tos', `${parseNumber(value) << 2n}`];
    case 'nw_tos':
      return ['nw_tos', `${parseNumber(value) & 0xfcn}`];
    default:
      return undefined;
  }
};

/** Over OpenFlow 1.1 and later, that there is no VLAN is all that can be said. */
const NO_VLAN: Printed = ['vlan_tci', '0x0000/0x1fff'];

const hasVlan = (fields: ReadonlyMap<string, string>): boolean =>
  fields.has('dl_vlan') || fields.has('dl_vlan_pcp') || /^0x1[0-9a-f]{3}\b/.test(fields.get('vlan_tci') ?? '');

const protocolOf = ({ ethType, ipProto, fields }: Draft): string[] => {
  if (ethType === undefined) {
    if (ipProto !== undefined) fields.set('nw_proto', String(ipProto));
    return [];
  }
  const exact = KEYWORD_OF.get(`${ethType} ${ipProto ?? ''}`);
  if (exact !== undefined) return [exact];
  if (ipProto !== undefined) fields.set('nw_proto', String(ipProto));
  const keyword = KEYWORD_OF.get(`${ethType} `);
  if (keyword === undefined) fields.set('dl_type', hex(BigInt(ethType)));
  return keyword === undefined ? [] : [keyword];
};
