/** Fields of packets in bytes: OpenFlow 1.5.1, 7.2.3 (OXM), and Open vSwitch's own (NXM, lib/meta-flow.h). */
import { ipToBigInt } from '../../../net/ip.ts';
import { invalid } from '../errors.ts';
import { bitsOf } from '../text/actions.ts';
import { fieldByName, type ValueKind } from '../text/fields.ts';
import { printedNumber } from '../text/flow.ts';
import { cut } from '../text/split.ts';
import { ipOf, maskOf, parseNumber } from '../text/values.ts';

export interface OxmField {
  readonly class: number;
  readonly number: number;
  readonly kind: ValueKind;
  readonly bits: number;
  /** Place in a match: what a field needs comes before it, in the order in which ovs-ofctl writes them. */
  readonly rank: number;
}

const BASIC = 0x8000;
const REGISTERS = 0x8001;
const NICIRA = 0x0001;
/** `ERICOXM`. */
const ERICSSON = 0x1000;

type Row = readonly [set: string, oxmClass: number, number: number, width?: readonly [ValueKind, number]];

const registers = (count: number, row: (index: number) => Row): Row[] =>
  Array.from({ length: count }, (_, i) => row(i));

/** By the name in `set_field`, in the order of a match. */
const ROWS: readonly Row[] = [
  ['conj_id', NICIRA, 37, ['decimal', 32]],
  ['in_port', BASIC, 0, ['decimal', 32]],
  ['eth_src', BASIC, 4],
  ['eth_dst', BASIC, 3],
  ['eth_type', BASIC, 5],
  ['vlan_vid', BASIC, 6],
  ['vlan_pcp', BASIC, 7],
  ['ip_src', BASIC, 11],
  ['ip_dst', BASIC, 12],
  ['ipv6_src', BASIC, 26],
  ['ipv6_dst', BASIC, 27],
  ['nw_frag', NICIRA, 26, ['decimal', 2]],
  ['ip_dscp', BASIC, 8],
  ['nw_ecn', BASIC, 9],
  ['nw_ttl', NICIRA, 29],
  ['nw_proto', BASIC, 10],
  ['tcp_src', BASIC, 13],
  ['tcp_dst', BASIC, 14],
  ['udp_src', BASIC, 15],
  ['udp_dst', BASIC, 16],
  ['sctp_src', BASIC, 17],
  ['sctp_dst', BASIC, 18],
  ['icmp_type', BASIC, 19],
  ['icmp_code', BASIC, 20],
  ['icmpv6_type', BASIC, 29],
  ['icmpv6_code', BASIC, 30],
  ['nd_target', BASIC, 31],
  ['nd_sll', BASIC, 32],
  ['nd_tll', BASIC, 33],
  ['nd_reserved', ERICSSON, 1, ['decimal', 32]],
  ['nd_options_type', ERICSSON, 2, ['decimal', 8]],
  ['arp_op', BASIC, 21],
  ['arp_spa', BASIC, 22],
  ['arp_tpa', BASIC, 23],
  ['arp_sha', BASIC, 24],
  ['arp_tha', BASIC, 25],
  ['tun_id', BASIC, 38],
  ...registers(16, (i) => [`reg${i}`, NICIRA, i]),
  ...registers(8, (i) => [`xreg${i}`, REGISTERS, i]),
  ...registers(4, (i) => [`xxreg${i}`, NICIRA, 111 + i]),
  ['pkt_mark', NICIRA, 33],
  ['ct_state', NICIRA, 105],
  ['ct_zone', NICIRA, 106],
  ['ct_mark', NICIRA, 107],
  ['ct_label', NICIRA, 108],
  ['ct_nw_proto', NICIRA, 119],
  ['ct_tp_dst', NICIRA, 125],
  ['metadata', BASIC, 2],
];

const FIELDS = new Map<string, OxmField>();
for (const [rank, [set, oxmClass, number, width]] of ROWS.entries()) {
  const { kind, bits } = fieldByName(set) ?? {};
  const [as, wide] = width ?? [kind ?? 'hex', bits ?? 0];
  FIELDS.set(set, { class: oxmClass, number, kind: as, bits: wide, rank });
}

/** @param name any that ovs-ofctl prints. @throws OpenflowError ERR_OPENFLOW_INVALID when its bytes are not known */
export const oxmField = (name: string): OxmField => {
  const field = FIELDS.get(fieldByName(name)?.set ?? name);
  if (field === undefined) throw invalid(`the bytes of ${name} are not known`);
  return field;
};

/** `NXM_NX_REG0[0..3]`. @throws OpenflowError ERR_OPENFLOW_INVALID */
export const oxmPart = (text: string) => {
  const { name, from, to = from } = bitsOf(text);
  const field = oxmField(name);
  if (from === undefined || to === undefined) return { field, from: 0, bits: field.bits };
  return { field, from, bits: to - from + 1 };
};

/** @param isMasked the mask follows the value, and counts */
export const oxmHeader = ({ class: oxmClass, number, bits }: OxmField, isMasked = false): number =>
  oxmClass * 0x1_0000 + number * 0x200 + (isMasked ? 0x100 : 0) + sizeOf(bits) * (isMasked ? 2 : 1);

export const sizeOf = (bits: number): number => Math.ceil(bits / 8);

/** Header, value and mask. @param text as ovs-ofctl prints it. @throws OpenflowError ERR_OPENFLOW_INVALID */
export const encodeOxm = (field: OxmField, text: string): Uint8Array => {
  const { value, mask } = field.kind === 'flags' ? flags(text) : masked(field, text);
  const bytes = new Uint8Array(HEADER + value.length + (mask?.length ?? 0));
  new DataView(bytes.buffer).setUint32(0, oxmHeader(field, mask !== undefined));
  bytes.set(value, HEADER);
  if (mask !== undefined) bytes.set(mask, HEADER + value.length);
  return bytes;
};

const HEADER = 4;

interface Masked {
  readonly value: Uint8Array;
  readonly mask?: Uint8Array;
}

const masked = ({ kind, bits }: OxmField, text: string): Masked => {
  const size = sizeOf(bits);
  const [valueText, maskText] = cut(text, '/');
  const value = valueBytes(kind, size, valueText);
  if (maskText === undefined) return { value };
  const family = kind === 'ip4' ? 4 : kind === 'ip6' ? 6 : undefined;
  const mask = family === undefined ? valueBytes(kind, size, maskText) : numberBytes(size, maskOf(family, maskText));
  return bits === 8 * size && mask.every((byte) => byte === 0xff) ? { value } : { value, mask };
};

const valueBytes = (kind: ValueKind, size: number, text: string): Uint8Array => {
  switch (kind) {
    case 'ip4':
      return Uint8Array.from(octets(text));
    case 'ip6':
      return numberBytes(size, ipToBigInt(ipOf(6, text)));
    case 'mac':
      return numberBytes(size, parseNumber(`0x${text.replaceAll(':', '')}`));
    default:
      return numberBytes(size, parseNumber(text));
  }
};

/** There is one for each network, so no number is made of it. */
const octets = (text: string): number[] => {
  const numbers = text.split('.').map((part) => printedNumber(part, 255));
  if (numbers.length !== 4) throw invalid(`${text} is not an IPv4 address`);
  return numbers;
};

export const numberBytes = (size: number, value: bigint): Uint8Array => {
  const bytes = new Uint8Array(size);
  let rest = value;
  for (let at = size - 1; at >= 0; at--) {
    bytes[at] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  if (rest !== 0n) throw invalid(`${value} does not fit into ${size} bytes`);
  return bytes;
};

/** `CS_NEW` and so on: lib/packets.h. */
const CT_STATES = ['new', 'est', 'rel', 'rpl', 'inv', 'trk', 'snat', 'dnat'];

/** `+est-rpl+trk` */
const flags = (text: string): Masked => {
  if (!/^(?:[+-][a-z_]+)+$/.test(text)) throw invalid(`the bytes of ${text} are not known`);
  let [value, mask] = [0n, 0n];
  for (const flag of text.match(/[+-][a-z_]+/g) ?? []) {
    const index = CT_STATES.indexOf(flag.slice(1));
    if (index < 0) throw invalid(`the bytes of ${text} are not known`);
    mask |= 1n << BigInt(index);
    if (flag.startsWith('+')) value |= 1n << BigInt(index);
  }
  return { value: numberBytes(CT_STATE_SIZE, value), mask: numberBytes(CT_STATE_SIZE, mask) };
};

const CT_STATE_SIZE = 4;
