/**
 * IP addresses as branded strings in canonical text form (RFC 5952 for IPv6), so that they are their own map keys,
 * compare with `===` and go into JSON as they are. Arithmetic goes through bigint.
 */
import { isIPv4 } from 'node:net';
import { NetError } from './errors.ts';
import {
  type IpWords,
  ipv4OfWords,
  ipv6OfWords,
  wordsFromBigInt,
  wordsOfIpv4,
  wordsOfIpv6,
  wordsToBigInt,
} from './ip-words.ts';

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
  const words = wordsOfIpv6(text.includes('.') ? withHexTail(text) : text);
  if (words === undefined) throw new NetError('ERR_NET_IP', `"${text}" is not an IP address`, text);
  if (isMapped(words)) {
    throw new NetError('ERR_NET_IP', `"${text}" is an IPv4-mapped IPv6 address, write it as IPv4`, text);
  }
  return ipv6OfWords(words) as Ip;
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

export const ipToWords = (ip: Ip): IpWords => {
  const words = ipFamily(ip) === 4 ? wordsOfIpv4(ip) : wordsOfIpv6(ip);
  if (words === undefined) throw new TypeError(`"${ip}" was not read by parseIp`);
  return words;
};

export const ipFromWords = (family: Family, words: IpWords): Ip =>
  (family === 4 ? ipv4OfWords(words) : ipv6OfWords(words)) as Ip;

export const ipToBigInt = (ip: Ip): bigint => wordsToBigInt(ipToWords(ip));

/** @throws NetError ERR_NET_RANGE when `value` does not fit the family */
export const ipFromBigInt = (family: Family, value: bigint): Ip => {
  if (value < 0n || value >> BigInt(addressBits(family)) !== 0n) {
    throw new NetError('ERR_NET_RANGE', `${value} is not an IPv${family} address`, String(value));
  }
  return ipFromWords(family, wordsFromBigInt(value));
};

/** Network-order bytes, 4 or 16 of them. */
export const ipToBytes = (ip: Ip): Uint8Array => {
  const words = ipToWords(ip);
  const bytes = (ipFamily(ip) === 4 ? words.slice(3) : words).flatMap((word) =>
    [24, 16, 8, 0].map((by) => word >>> by),
  );
  return Uint8Array.from(bytes);
};

/** fe80::/10, RFC 4291 section 2.5.6. */
export const isLinkLocal6 = (ip: Ip): boolean => ipFamily(ip) === 6 && ipToWords(ip)[0] >>> 22 === 0x3fa;

/** `64:ff9b::1.2.3.4` → `64:ff9b::102:304`; what ends in no IPv4 address stays as it is, and is none. */
const withHexTail = (text: string): string => {
  const dotted = text.slice(text.lastIndexOf(':') + 1);
  if (!isIPv4(dotted)) return text;
  const [, , , word] = wordsOfIpv4(dotted);
  return `${text.slice(0, -dotted.length)}${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`;
};

const isMapped = ([a, b, c]: IpWords): boolean => a === 0 && b === 0 && c === 0xffff;
