/** Matches in bytes, from the one form: `struct ofp_match`, OpenFlow 1.5.1, 7.2.3. */

import { memo } from '../../../base/memo.ts';
import { invalid } from '../errors.ts';
import { portField } from '../text/fields.ts';
import { printedNumber } from '../text/flow.ts';
import { keywordProtocols, TRANSPORTS } from '../text/match.ts';
import { parseNumber } from '../text/values.ts';
import type { ByteWriter } from './byte-writer.ts';
import { encodeOxm, oxmField } from './oxm.ts';

export interface Identity {
  readonly table: number;
  readonly priority: number;
  readonly fields: readonly EncodedField[];
}

interface EncodedField {
  readonly rank: number;
  readonly bytes: Uint8Array;
}

/** @param identity of a flow in its one form. @throws OpenflowError ERR_OPENFLOW_INVALID when its bytes are not known */
export const encodeIdentity = (identity: string): Identity => {
  let [table, priority] = [0, 0];
  let protocol: number | undefined;
  const fields: EncodedField[] = [];
  for (let start = 0; start < identity.length; ) {
    const comma = identity.indexOf(',', start);
    const stop = comma < 0 ? identity.length : comma;
    const text = identity.slice(start, stop);
    const part = partOf(text);
    if (part.kind === 'table') table = part.number;
    if (part.kind === 'priority') priority = part.number;
    if (part.kind === 'ofProtocol') insert(fields, ofProtocol(`${protocol} ${text}`));
    if (part.kind === 'keyword') protocol = part.protocol;
    if (part.kind === 'keyword' || part.kind === 'field') for (const field of part.fields) insert(fields, field);
    start = stop + 1;
  }
  return { table, priority, fields };
};

export const writeMatch = (writer: ByteWriter, fields: readonly EncodedField[]): void => {
  const start = writer.length;
  writer.u16(OXM_MATCH).u16(0);
  for (const { bytes } of fields) writer.bytes(bytes);
  writer.putU16(start + 2, writer.length - start);
  writer.pad(start);
};

/** `OFPMT_OXM`. */
const OXM_MATCH = 1;

/** Few, so that this is quicker than a sort. */
const insert = (fields: EncodedField[], field: EncodedField): void => {
  let at = fields.length;
  fields.push(field);
  for (; at > 0; at--) {
    const before = fields[at - 1];
    if (before === undefined || before.rank <= field.rank) break;
    fields[at] = before;
  }
  fields[at] = field;
};

const encode = (name: string, value: string): EncodedField => {
  const field = oxmField(name);
  return { rank: field.rank, bytes: encodeOxm(field, value) };
};

type Part =
  | { readonly kind: 'table' | 'priority'; readonly number: number }
  | { readonly kind: 'keyword'; readonly protocol: number | undefined; readonly fields: readonly EncodedField[] }
  | { readonly kind: 'field'; readonly fields: readonly EncodedField[] }
  /** One name for the fields of several protocols. */
  | { readonly kind: 'ofProtocol' };

const partOf = memo((text): Part => {
  const at = text.indexOf('=');
  if (at < 0) return keyword(text);
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  switch (name) {
    case 'table':
      return { kind: name, number: printedNumber(value, 254) };
    case 'priority':
      return { kind: name, number: printedNumber(value, 65_535) };
    case 'tp_src':
    case 'tp_dst':
    case 'icmp_type':
    case 'icmp_code':
      return { kind: 'ofProtocol' };
    default:
      return { kind: 'field', fields: [encodedField(name, value)] };
  }
});

const keyword = (text: string): Part => {
  const [ethType, protocol] = keywordProtocols(text) ?? [];
  if (ethType === undefined) throw invalid(`the bytes of ${text} are not known`);
  const fields = [encode('eth_type', String(ethType))];
  if (protocol !== undefined) fields.push(encode('nw_proto', String(protocol)));
  return { kind: 'keyword', protocol, fields };
};

const ICMPV6 = '58';

/** `PROTOCOL name=value` */
const ofProtocol = memo((text) => {
  const blank = text.indexOf(' ');
  const at = text.indexOf('=');
  const [protocol, name, value] = [text.slice(0, blank), text.slice(blank + 1, at), text.slice(at + 1)];
  if (name.startsWith('icmp_')) return encode(protocol === ICMPV6 ? name.replace('icmp', 'icmpv6') : name, value);
  const transport = TRANSPORTS[Number(protocol)];
  if (transport === undefined) throw invalid(`${name} without a protocol`);
  return encode(portField(name === 'tp_src' ? 'src' : 'dst', transport), value);
});

const VLAN_PRESENT = 0x1000n;

const encodedField = (name: string, value: string): EncodedField => {
  switch (name) {
    case 'in_port':
      return encode(name, value === 'LOCAL' ? String(LOCAL) : value);
    case 'dl_vlan':
      return encode('vlan_vid', String(VLAN_PRESENT | parseNumber(value)));
    case 'vlan_tci':
      if (value !== '0x0000/0x1fff') throw invalid(`the bytes of vlan_tci=${value} are not known`);
      return encode('vlan_vid', '0');
    case 'nw_frag':
      return encode(name, FRAGMENTS[value] ?? value);
    case 'nw_tos':
      return encode('ip_dscp', String(parseNumber(value) >> 2n));
    default:
      return encode(name, value);
  }
};

/** `NX_IP_FRAG_ANY`, `NX_IP_FRAG_LATER`: include/openvswitch/nicira-ext.h. */
const FRAGMENTS: Readonly<Record<string, string>> = { no: '0', yes: '1/1', first: '1', later: '3', not_later: '0/2' };

/** `OFPP_LOCAL`. */
const LOCAL = 0xffff_fffe;
