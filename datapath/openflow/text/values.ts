/** Values of fields as ovs-ofctl prints them. */
import { isIP } from 'node:net';
import { type Ip, ipFromBigInt, ipToBigInt, isIp, parseIp } from '../../../net/ip.ts';
import { invalid } from '../errors.ts';
import type { Field, ValueKind } from './fields.ts';
import { cut } from './split.ts';

/**
 * A value, or a value and a mask, in the one form in which it is printed. Undefined when the mask leaves nothing.
 * @throws OpenflowError ERR_OPENFLOW_INVALID when it is no value of the field
 */
export const canonicalValue = (field: Pick<Field, 'kind' | 'bits' | 'set'>, text: string): string | undefined => {
  switch (field.kind) {
    case 'text':
      return text;
    case 'flags':
      return flags(text);
    case 'ip4':
    case 'ip6':
      return maskedIp(field.kind === 'ip4' ? 4 : 6, text);
    default:
      return masked(field, text);
  }
};

/** A number as a field's value. */
export const formatNumber = (kind: ValueKind, value: bigint): string => {
  switch (kind) {
    case 'mac':
      return (value.toString(16).padStart(12, '0').match(/../g) ?? []).join(':');
    case 'ip4':
      return ipFromBigInt(4, value);
    case 'ip6':
      return ipFromBigInt(6, value);
    case 'decimal':
      return value.toString();
    default:
      return hex(value);
  }
};

/** As C's `%#x`: zero has no prefix. */
export const hex = (value: bigint): string => (value === 0n ? '0' : `0x${value.toString(16)}`);

/** @throws OpenflowError ERR_OPENFLOW_INVALID */
export const parseNumber = (text: string): bigint => {
  if (!/^(?:0x[0-9a-f]{1,32}|[0-9]{1,39})$/i.test(text)) throw invalid(`${JSON.stringify(text)} is not a number`);
  return BigInt(text);
};

const masked = ({ kind, bits, set }: Pick<Field, 'kind' | 'bits' | 'set'>, text: string): string | undefined => {
  if (kind === 'mac' && CANONICAL_MAC.test(text)) return text;
  const [valueText, maskText] = cut(text, '/');
  const parse = kind === 'mac' ? parseMacNumber : parseNumber;
  const all = (1n << BigInt(bits)) - 1n;
  const value = parse(valueText);
  const mask = maskText === undefined ? all : parse(maskText);
  if (value > all || mask > all) throw invalid(`${text} is too large for ${set}`);
  if (mask === 0n) return undefined;
  if (mask === all) return formatNumber(kind, value);
  // Even a decimal field is printed in hexadecimal with a mask.
  const printed = kind === 'mac' ? 'mac' : 'hex';
  return `${formatNumber(printed, value & mask)}/${formatNumber(printed, mask)}`;
};

const CANONICAL_MAC = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;

const parseMacNumber = (text: string): bigint => {
  if (!/^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i.test(text)) throw invalid(`${JSON.stringify(text)} is not a MAC address`);
  return BigInt(`0x${text.replaceAll(':', '')}`);
};

const maskedIp = (family: 4 | 6, text: string): string | undefined => {
  const [address, suffix] = cut(text, '/');
  const ip = ipOf(family, address);
  if (suffix === undefined) return ip;
  const value = ipToBigInt(ip);
  const bits = family === 4 ? 32 : 128;
  const all = (1n << BigInt(bits)) - 1n;
  const mask = maskOf(family, suffix);
  if (mask === 0n) return undefined;
  const printed = ipFromBigInt(family, value & mask);
  if (mask === all) return printed;
  const length = prefixLengthOf(mask, bits);
  return `${printed}/${length ?? ipFromBigInt(family, mask)}`;
};

/** @param suffix of an address: a length, or a mask. @throws OpenflowError ERR_OPENFLOW_INVALID */
export const maskOf = (family: 4 | 6, suffix: string): bigint => {
  const bits = family === 4 ? 32 : 128;
  if (!/^[0-9]{1,3}$/.test(suffix)) return ipToBigInt(ipOf(family, suffix));
  const length = Number(suffix);
  if (length > bits) throw invalid(`/${suffix} is too long for IPv${family}`);
  return ((1n << BigInt(length)) - 1n) << BigInt(bits - length);
};

const prefixLengthOf = (mask: bigint, bits: number): number | undefined => {
  const inverted = mask ^ ((1n << BigInt(bits)) - 1n);
  if ((inverted & (inverted + 1n)) !== 0n) return undefined;
  return bits - (inverted === 0n ? 0 : inverted.toString(2).length);
};

/** @throws OpenflowError ERR_OPENFLOW_INVALID */
export const ipOf = (family: 4 | 6, text: string): Ip => {
  if (isIP(text) !== family || (family === 6 && !isIp(text)))
    throw invalid(`${JSON.stringify(text)} is not an IPv${family} address`);
  return parseIp(text);
};

/** `+trk+est` and `+est+trk` are the same; they are printed in the order of their bits. */
const flags = (text: string): string => {
  if (!/^(?:[+-][a-z_]+)+$/.test(text)) return text;
  const rank = (flag: string): number => FLAGS.indexOf(flag.slice(1));
  return (text.match(/[+-][a-z_]+/g) ?? []).sort((a, b) => rank(a) - rank(b)).join('');
};

/** Of `ct_state`, and of `tcp_flags`. */
const FLAGS = ['new', 'est', 'rel', 'rpl', 'inv', 'trk', 'snat', 'dnat'].concat(
  ...['fin', 'syn', 'rst', 'psh', 'ack', 'urg', 'ece', 'cwr', 'ns'],
);
