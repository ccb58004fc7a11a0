/** The actions `ct` and `nat` in bytes: `struct nx_action_conntrack`, `struct nx_action_nat` in Open vSwitch's lib/ofp-actions.c. */
import { ipFamily, ipToBigInt, isIp, parseIp } from '../../../net/ip.ts';
import { invalid } from '../errors.ts';
import { rangeOf } from '../text/ct.ts';
import { callOf, cut, splitTopLevel } from '../text/split.ts';
import { parseNumber } from '../text/values.ts';
import type { ByteWriter } from './byte-writer.ts';
import { writeNicira } from './nicira.ts';
import { numberBytes, oxmHeader, oxmPart } from './oxm.ts';

const CT = 35;
const NAT = 36;
const FLAG: Readonly<Record<string, number>> = { commit: 1, force: 2 };
/** `NX_CT_RECIRC_NONE`. */
const NO_TABLE = 0xff;

interface Parameters {
  flags: number;
  /** A number, or part of a field. */
  zone: { readonly header: number; readonly bits: number };
  table: number;
  nat: string | undefined;
  exec: string | undefined;
}

/** @param inner between the brackets @param actions of `exec` */
export const writeCt = (writer: ByteWriter, inner: string, actions: (text: string) => Uint8Array): ByteWriter => {
  const { flags, zone, table, nat, exec } = parametersOf(inner);
  return writeNicira(writer, CT, () => {
    // Padding, and no ALG.
    writer.u16(flags).u32(zone.header).u16(zone.bits).u8(table).zeros(3).u16(0);
    if (nat !== undefined) writeNat(writer, nat);
    if (exec !== undefined) writer.bytes(actions(exec));
  });
};

const parametersOf = (inner: string): Parameters => {
  const found: Parameters = {
    flags: 0,
    zone: { header: 0, bits: 0 },
    table: NO_TABLE,
    nat: undefined,
    exec: undefined,
  };
  for (const text of splitTopLevel(inner)) {
    const call = callOf(text);
    const [name, value = ''] = cut(text, '=');
    if (text === 'nat' || call?.name === 'nat') found.nat = call?.inner ?? '';
    else if (call?.name === 'exec') found.exec = call.inner;
    else if (FLAG[text] !== undefined) found.flags |= FLAG[text];
    else if (name === 'table') found.table = Number(parseNumber(value));
    else if (name === 'zone') found.zone = zoneOf(value);
    else throw invalid(`the bytes of ct(${inner}) are not known`);
  }
  return found;
};

/** `64000`, `NXM_NX_REG13[0..15]` */
const zoneOf = (text: string): Parameters['zone'] => {
  if (/^[0-9]+$/.test(text)) return { header: 0, bits: Number(parseNumber(text)) };
  const { field, from, bits } = oxmPart(text);
  return { header: oxmHeader(field), bits: from * 64 + bits - 1 };
};

/** `NX_NAT_F_SRC` and so on. */
const NAT_FLAG: Readonly<Record<string, number>> = { src: 1, dst: 2, persistent: 4, hash: 8, random: 16 };
/** Which values follow, the first and the last: `NX_NAT_RANGE_IPV4_MIN` and so on. */
const RANGE = { address: { 4: [1, 2], 6: [4, 8] }, port: [16, 32] } as const;

/** @param inner `src=10.0.0.1-10.0.0.9:100-200,random`; empty for `nat` alone */
const writeNat = (writer: ByteWriter, inner: string): ByteWriter => {
  let [flags, present] = [0, 0];
  const values: Uint8Array[] = [];
  const put = (flag: number, bytes: Uint8Array): void => {
    present |= flag;
    values.push(bytes);
  };
  for (const text of splitTopLevel(inner)) {
    const [name, range] = cut(text, '=');
    const flag = NAT_FLAG[name];
    if (flag === undefined) throw invalid(`the bytes of nat(${inner}) are not known`);
    flags |= flag;
    if (range !== undefined) putRange(range, put);
  }
  return writeNicira(writer, NAT, () => {
    writer.zeros(2).u16(flags).u16(present);
    for (const bytes of values) writer.bytes(bytes);
  });
};

const putRange = (text: string, put: (flag: number, bytes: Uint8Array) => void): void => {
  const { addresses, ports = '' } = rangeOf(text);
  const family = ipFamily(ipOfText(addresses[0] ?? ''));
  const putBoth = (flags: readonly number[], values: readonly string[], bytes: (value: string) => Uint8Array): void => {
    for (const [at, value] of values.entries()) {
      const flag = flags[at];
      if (flag === undefined) throw invalid(`${text} is not a range`);
      put(flag, bytes(value));
    }
  };
  const size = family === 6 ? 16 : 4;
  putBoth(RANGE.address[family], addresses, (address) => numberBytes(size, ipToBigInt(ipOfText(address))));
  putBoth(RANGE.port, ports === '' ? [] : ports.split('-'), (port) => numberBytes(2, parseNumber(port)));
};

const ipOfText = (text: string) => {
  if (!isIp(text)) throw invalid(`${text} is not an address`);
  return parseIp(text);
};
