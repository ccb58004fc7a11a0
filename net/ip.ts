/**
 * IP addresses as branded strings in canonical text form (RFC 5952 for IPv6), so that they are their own map keys,
 * compare with `===` and go into JSON as they are. Arithmetic goes through bigint.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { NetError } from './errors.ts';

declare const ipBrand: unique symbol;

export type Family = 4 | 6;
/** An address without prefix length or zone, in canonical form. */
export type Ip = string & { readonly [ipBrand]: true };

export const FAMILIES: readonly Family[] = [4, 6];

/** Number of bits of an address of the family. */
export const addressBits = (family: Family): 32 | 128 => (family === 4 ? 32 : 128);

/**
 * Reads one address. Leading zeros, shorthand (`10.1`), hexadecimal octets, zone ids and IPv4-mapped IPv6 addresses are
 * refused: each of them reads as a different address somewhere in the stack.
 * @throws NetError ERR_NET_IP
 */
export const parseIp = (text: string): Ip => {
  if (isIPv4(text)) return text as Ip;
  if (!isIPv6(text) || text.includes('%')) throw new NetError('ERR_NET_IP', `"${text}" is not an IP address`, text);
  const value = ipv6ToBigInt(text);
  if (value >> 32n === 0xffffn) {
    throw new NetError('ERR_NET_IP', `"${text}" is an IPv4-mapped IPv6 address, write it as IPv4`, text);
  }
  return formatIpv6(value) as Ip;
};

export const isIp = (text: string): boolean => {
  try {
    parseIp(text);
    return true;
  } catch {
    return false;
  }
};

export const ipFamily = (ip: Ip): Family => (ip.includes(':') ? 6 : 4);

export const ipToBigInt = (ip: Ip): bigint => (ipFamily(ip) === 4 ? ipv4ToBigInt(ip) : ipv6ToBigInt(ip));

/** @throws NetError ERR_NET_RANGE when `value` does not fit the family */
export const ipFromBigInt = (family: Family, value: bigint): Ip => {
  if (value < 0n || value >> BigInt(addressBits(family)) !== 0n) {
    throw new NetError('ERR_NET_RANGE', `${value} is not an IPv${family} address`, String(value));
  }
  return (family === 4 ? formatIpv4(value) : formatIpv6(value)) as Ip;
};

/** Network-order bytes, 4 or 16 of them. */
export const ipToBytes = (ip: Ip): Uint8Array => {
  const bytes = new Uint8Array(addressBits(ipFamily(ip)) / 8);
  let value = ipToBigInt(ip);
  for (let i = bytes.length - 1; i >= 0; i--) {
    bytes[i] = Number(value & 0xffn);
    value >>= 8n;
  }
  return bytes;
};

/** fe80::/10, RFC 4291 section 2.5.6. */
export const isLinkLocal6 = (ip: Ip): boolean => ipFamily(ip) === 6 && ipToBigInt(ip) >> 118n === 0x3fan;

const ipv4ToBigInt = (text: string): bigint => {
  let value = 0;
  for (const octet of text.split('.')) value = value * 256 + Number(octet);
  return BigInt(value);
};

const ipv6ToBigInt = (text: string): bigint => {
  const [head = '', tail] = withHexTail(text).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = 8 - left.length - right.length;
  // Two groups at a time as a number: it is big integers that take the time.
  let value = 0n;
  for (let group = 0; group < 8; group += 2) {
    const pair = groupAt(left, right, gap, group) * 0x1_0000 + groupAt(left, right, gap, group + 1);
    value = group === 0 ? BigInt(pair) : (value << 32n) | BigInt(pair);
  }
  return value;
};

const groupAt = (left: readonly string[], right: readonly string[], gap: number, at: number): number => {
  const text = at < left.length ? left[at] : right[at - left.length - gap];
  return text === undefined ? 0 : Number.parseInt(text, 16);
};

/** `64:ff9b::1.2.3.4` → `64:ff9b::102:304` */
const withHexTail = (text: string): string => {
  if (!text.includes('.')) return text;
  const dotted = /[0-9.]+$/.exec(text)?.[0] ?? '';
  const value = Number(ipv4ToBigInt(dotted));
  const hex = `${Math.floor(value / 65536).toString(16)}:${(value % 65536).toString(16)}`;
  return text.slice(0, -dotted.length) + hex;
};

const formatIpv4 = (value: bigint): string => {
  const n = Number(value);
  return [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join('.');
};

const formatIpv6 = (value: bigint): string => {
  const groups: string[] = [];
  for (let shift = 96n; shift >= 0n; shift -= 32n) {
    const pair = Number((value >> shift) & 0xffff_ffffn);
    groups.push((pair >>> 16).toString(16), (pair & 0xffff).toString(16));
  }
  const { start, length } = longestZeroRun(groups);
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`;
};

/** RFC 5952 section 4.2: the longest run, the first of equals, never a single group. */
const longestZeroRun = (groups: readonly string[]): { start: number; length: number } => {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === '0') continue;
    if (i - start > best.length) best = { start, length: i - start };
    start = i + 1;
  }
  return best;
};
