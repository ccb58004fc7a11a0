/** Matches in one form: two texts are equal exactly if a bridge takes the flows for the same one. */

import { memo } from '../../../base/memo.ts';
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
  const draft: Draft = { ethType: undefined, ipProto: undefined, inPort: undefined, fields: [] };
  for (const [name, value] of entries) {
    if (value === true) addKeyword(draft, name);
    else addField(draft, name, value);
  }
  const { ipProto, fields } = draft;
  let text = protocolOf(draft);
  if (draft.inPort !== undefined) text += `${text === '' ? '' : ','}${draft.inPort.text}`;
  if (fields.length > 1) fields.sort(byText);
  for (const field of fields) text += text === '' ? field.text : `,${field.text}`;
  return { text, hasVlan: fields.some(isVlan), transport: ipProto === undefined ? undefined : TRANSPORTS[ipProto] };
};

const byText = (a: Printed, b: Printed): number => (a.text < b.text ? -1 : 1);

/** A field as it is printed. */
interface Printed {
  readonly name: string;
  /** `name=value` */
  readonly text: string;
}

interface Draft {
  ethType: number | undefined;
  ipProto: number | undefined;
  /** Is printed before the others. */
  inPort: Printed | undefined;
  /** Few, so that looking through them is quicker than a map. */
  readonly fields: Printed[];
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

/** EtherType and IP protocol; undefined if it is none. */
export const keywordProtocols = (keyword: string): readonly [number, number?] | undefined => PROTOCOLS.get(keyword);

/** Asked for each flow: of an object the prototype's names would have to be ruled out every time. */
const PROTOCOLS = new Map(Object.entries(KEYWORDS));

/** By IP protocol, then by EtherType. */
const KEYWORD_OF = new Map<number | undefined, Map<number, string>>();
for (const [keyword, [ethType, ipProto]] of Object.entries(KEYWORDS)) {
  if (keyword === 'ipv4') continue;
  const ofProto = KEYWORD_OF.get(ipProto) ?? new Map<number, string>();
  KEYWORD_OF.set(ipProto, ofProto.set(ethType, keyword));
}

/** By IP protocol. */
export const TRANSPORTS: Readonly<Record<number, 'tcp' | 'udp' | 'sctp'>> = { 6: 'tcp', 17: 'udp', 132: 'sctp' };

const addKeyword = (draft: Draft, keyword: string): void => {
  const protocols = keywordProtocols(keyword);
  if (protocols === undefined) throw invalid(`${JSON.stringify(keyword)} is not a protocol`);
  const [ethType, ipProto] = protocols;
  draft.ethType = sameOr('dl_type', draft.ethType, ethType);
  if (ipProto !== undefined) draft.ipProto = sameOr('nw_proto', draft.ipProto, ipProto);
};

const addField = (draft: Draft, name: string, value: string): void => {
  const field = parsedField(name)(value);
  switch (field.kind) {
    case 'ethType':
      draft.ethType = sameOr('dl_type', draft.ethType, field.number);
      return;
    case 'ipProto':
      draft.ipProto = sameOr('nw_proto', draft.ipProto, field.number);
      return;
    case 'printed':
      addPrinted(draft, field);
  }
};

const addPrinted = (draft: Draft, field: Printed): void => {
  const before = draft.fields.find(({ name }) => name === field.name) ?? sameName(draft.inPort, field);
  if (before !== undefined) sameOr(field.name, printedValue(before), printedValue(field));
  else if (field.name === 'in_port') draft.inPort = field;
  else draft.fields.push(field);
};

const printedValue = ({ name, text }: Printed): string => text.slice(name.length + 1);

const sameName = (one: Printed | undefined, { name }: Printed): Printed | undefined =>
  one?.name === name ? one : undefined;

type ParsedField =
  | { readonly kind: 'ethType' | 'ipProto'; readonly number: number }
  | ({ readonly kind: 'printed' } & Printed)
  /** It says nothing. */
  | { readonly kind: 'none' };

/** By name first: to look up a pair as one text would cost more than it saves. */
const parsedField = memo((name) => memo((value): ParsedField => parseField(name, value)), 256);

const parseField = (name: string, value: string): ParsedField => {
  const field = fieldByName(name);
  const match = field?.match ?? name;
  if (match === 'dl_type' && !value.includes('/')) return { kind: 'ethType', number: Number(parseNumber(value)) };
  if (match === 'nw_proto' && !value.includes('/')) return { kind: 'ipProto', number: Number(parseNumber(value)) };
  const [as, printed] = special(match, value) ?? [match, field === undefined ? value : canonicalValue(field, value)];
  return printed === undefined ? { kind: 'none' } : { kind: 'printed', name: as, text: `${as}=${printed}` };
};

const sameOr = <T>(name: string, before: T | undefined, value: T): T => {
  if (before !== undefined && before !== value) throw invalid(`${name} is both ${before} and ${value}`);
  return value;
};

type NameAndValue = readonly [name: string, value: string | undefined];

const VLAN_PRESENT = 0x1000n;

/** Fields that are printed as others than those they were written as. */
const special = (match: string, value: string): NameAndValue | undefined => {
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
const NO_VLAN: NameAndValue = ['vlan_tci', '0x0000/0x1fff'];

const isVlan = ({ name, text }: Printed): boolean =>
  name === 'dl_vlan' || name === 'dl_vlan_pcp' || (name === 'vlan_tci' && /^vlan_tci=0x1[0-9a-f]{3}\b/.test(text));

/** The keyword, or nothing; what has no keyword becomes a field. */
const protocolOf = ({ ethType, ipProto, fields }: Draft): string => {
  const addProto = (): void => {
    if (ipProto !== undefined) fields.push({ name: 'nw_proto', text: `nw_proto=${ipProto}` });
  };
  if (ethType === undefined) {
    addProto();
    return '';
  }
  const exact = KEYWORD_OF.get(ipProto)?.get(ethType);
  if (exact !== undefined) return exact;
  addProto();
  const keyword = KEYWORD_OF.get(undefined)?.get(ethType);
  if (keyword === undefined) fields.push({ name: 'dl_type', text: `dl_type=${hex(BigInt(ethType))}` });
  return keyword ?? '';
};
