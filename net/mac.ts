import { hash } from 'node:crypto';
import { NetError } from './errors.ts';
import { type Ip, ipFamily, ipFromBigInt, ipFromWords, ipToWords } from './ip.ts';

declare const macBrand: unique symbol;

/** An Ethernet address, six lower-case octets with colons. */
export type Mac = string & { readonly [macBrand]: true };

/** @throws NetError ERR_NET_MAC for anything but six octets of two hex digits with colons */
export const parseMac = (text: string): Mac => {
  if (!/^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$/.test(text)) {
    throw new NetError('ERR_NET_MAC', `"${text}" is not a MAC address`, text);
  }
  return text.toLowerCase() as Mac;
};

/** Of one interface: neither a group's (IEEE 802, the lowest bit of the first octet) nor the zero of "none". */
export const isUnicastMac = (mac: Mac): boolean =>
  (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0 && mac !== '00:00:00:00:00:00';

export const macToBytes = (mac: Mac): Uint8Array =>
  Uint8Array.from(mac.split(':'), (octet) => Number.parseInt(octet, 16));

/** @throws NetError ERR_NET_MAC unless there are six bytes */
export const macFromBytes = (bytes: Uint8Array): Mac =>
  parseMac(Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(':'));

/**
 * The MAC that belongs to an address: `0a:58` and the four IPv4 octets, or the first four bytes of the SHA-256 of the
 * IPv6 address' canonical text. Every node derives the same one, so nothing has to be announced.
 */
export const macFromIp = (ip: Ip): Mac => {
  const suffix = ipFamily(ip) === 4 ? hexOf(ipToWords(ip)[3]) : hash('sha256', ip, 'hex').slice(0, 8);
  const [a, b, c, d] = [0, 2, 4, 6].map((at) => suffix.slice(at, at + 2));
  return `0a:58:${a}:${b}:${c}:${d}` as Mac;
};

const hexOf = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');

/** The inverse of `macFromIp` for IPv4; undefined for a MAC that belongs to no IPv4 address. */
export const ipv4FromMac = (mac: Mac): Ip | undefined => {
  if (!mac.startsWith('0a:58:')) return undefined;
  return ipFromWords(4, [0, 0, 0, Number.parseInt(mac.slice(6).replaceAll(':', ''), 16) | 0]);
};

/** The link-local address of an interface: modified EUI-64, RFC 4291 appendix A. */
export const linkLocalFromMac = (mac: Mac): Ip => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = macToBytes(mac);
  let value = 0xfe80n << 48n;
  for (const byte of [a ^ 2, b, c, 0xff, 0xfe, d, e, f]) value = (value << 8n) | BigInt(byte);
  return ipFromBigInt(6, value);
};
