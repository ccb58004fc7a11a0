/**
 * Prefixes. `Cidr` is a network (no host bits), `InterfaceAddress` is an address with the prefix length of its network.
 * Both are branded strings in canonical form.
 */
import { NetError } from './errors.ts';
import {
  addressBits,
  type Family,
  type Ip,
  ipFamily,
  ipFromBigInt,
  ipFromWords,
  ipToBigInt,
  ipToWords,
  parseIp,
} from './ip.ts';
import { hostPart, type IpWords, masked, maskWords, sameMasked, wordsToBigInt } from './ip-words.ts';

declare const cidrBrand: unique symbol;
declare const interfaceAddressBrand: unique symbol;

/** A network, for example `10.0.0.0/16`: no host bits are set. */
export type Cidr = string & { readonly [cidrBrand]: true };
/** An address on a network, for example `10.0.0.5/16`: host bits may be set. */
export type InterfaceAddress = string & { readonly [interfaceAddressBrand]: true };

/** @throws NetError ERR_NET_CIDR, or ERR_NET_HOST_BITS when the address is not the network's first */
export const parseCidr = (text: string): Cidr => {
  const { ip, length } = splitPrefix(text);
  const network = networkOf(ip, length);
  if (network.split('/')[0] !== ip) {
    throw new NetError('ERR_NET_HOST_BITS', `"${text}" has host bits set, the network is ${network}`, text);
  }
  return network;
};

/** The network that a text names, whatever host bits it has set. @throws NetError ERR_NET_CIDR */
export const parseMaskedCidr = (text: string): Cidr => {
  const { ip, length } = splitPrefix(text);
  return networkOf(ip, length);
};

/** @throws NetError ERR_NET_CIDR */
export const parseInterfaceAddress = (text: string): InterfaceAddress => {
  const { ip, length } = splitPrefix(text);
  return `${ip}/${length}` as InterfaceAddress;
};

export const interfaceAddress = (ip: Ip, length: number): InterfaceAddress => parseInterfaceAddress(`${ip}/${length}`);

/** The whole family: `0.0.0.0/0` or `::/0`. */
export const defaultRoute = (family: Family): Cidr => (family === 4 ? '0.0.0.0/0' : '::/0') as Cidr;

/** The network that has `ip` in it, with a prefix of `length` bits. */
export const networkOf = (ip: Ip, length: number): Cidr => {
  const family = ipFamily(ip);
  return `${ipFromWords(family, masked(ipToWords(ip), maskOf(family, length)))}/${length}` as Cidr;
};

export const cidrFamily = (cidr: Cidr | InterfaceAddress): Family => (cidr.includes(':') ? 6 : 4);

export const prefixLength = (cidr: Cidr | InterfaceAddress): number => Number(cidr.slice(cidr.indexOf('/') + 1));

/** The part before the slash: a network's first address, or the address itself. */
export const addressOf = (cidr: Cidr | InterfaceAddress): Ip => cidr.slice(0, cidr.indexOf('/')) as Ip;

/** The network of an interface's address. */
export const networkOfInterface = (address: InterfaceAddress): Cidr =>
  networkOf(addressOf(address), prefixLength(address));

/** A network of exactly one address: /32 or /128. */
export const hostRoute = (ip: Ip): Cidr => `${ip}/${addressBits(ipFamily(ip))}` as Cidr;

/** How many addresses the network has, network and broadcast address included. */
export const cidrSize = (cidr: Cidr): bigint => 1n << BigInt(addressBits(cidrFamily(cidr)) - prefixLength(cidr));

/**
 * The address `offset` steps after the network's first.
 * @throws NetError ERR_NET_RANGE when that is outside of the network
 */
export const addressAt = (cidr: Cidr, offset: bigint | number): Ip => {
  const step = BigInt(offset);
  if (step < 0n || step >= cidrSize(cidr)) {
    throw new NetError('ERR_NET_RANGE', `${cidr} has no address at offset ${step}`, String(step));
  }
  return ipFromBigInt(cidrFamily(cidr), ipToBigInt(addressOf(cidr)) + step);
};

/** As `addressAt`, with the network's prefix length. */
export const interfaceAddressAt = (cidr: Cidr, offset: bigint | number): InterfaceAddress =>
  `${addressAt(cidr, offset)}/${prefixLength(cidr)}` as InterfaceAddress;

/** The inverse of `addressAt`; undefined when the address is not in the network. */
export const offsetIn = (cidr: Cidr, ip: Ip): bigint | undefined => {
  const { family, words, mask } = partsOf(cidr);
  if (family !== ipFamily(ip)) return undefined;
  const other = ipToWords(ip);
  return sameMasked(words, other, mask) ? wordsToBigInt(hostPart(other, mask)) : undefined;
};

export const cidrContainsIp = (cidr: Cidr, ip: Ip): boolean => {
  const { family, words, mask } = partsOf(cidr);
  return family === ipFamily(ip) && sameMasked(words, ipToWords(ip), mask);
};

/** True when `inner` is `outer` or a part of it. */
export const cidrContains = (outer: Cidr, inner: Cidr): boolean => {
  const { family, words, mask, length } = partsOf(outer);
  const part = partsOf(inner);
  return part.family === family && part.length >= length && sameMasked(words, part.words, mask);
};

export const cidrsOverlap = (a: Cidr, b: Cidr): boolean => cidrContains(a, b) || cidrContains(b, a);

/** The `index`-th part of `cidr` with a prefix of `length` bits. */
export const subnetAt = (cidr: Cidr, length: number, index: bigint | number): Cidr => {
  const hostBits = BigInt(addressBits(cidrFamily(cidr)) - length);
  return `${addressAt(cidr, BigInt(index) << hostBits)}/${length}` as Cidr;
};

interface Parts {
  readonly family: Family;
  readonly length: number;
  readonly words: IpWords;
  readonly mask: IpWords;
}

/** The same few networks are asked for each of their addresses. */
const known = new Map<Cidr, Parts>();
const MAX_KNOWN = 1024;

const partsOf = (cidr: Cidr): Parts => {
  const before = known.get(cidr);
  if (before !== undefined) return before;
  const [family, length] = [cidrFamily(cidr), prefixLength(cidr)];
  const parts = { family, length, words: ipToWords(addressOf(cidr)), mask: maskOf(family, length) };
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(cidr, parts);
  return parts;
};

const maskOf = (family: Family, length: number): IpWords => maskWords(length + 128 - addressBits(family));

const splitPrefix = (text: string): { ip: Ip; length: number } => {
  const slash = text.indexOf('/');
  const digits = text.slice(slash + 1);
  if (slash < 0 || !/^(0|[1-9][0-9]{0,2})$/.test(digits)) {
    throw new NetError('ERR_NET_CIDR', `"${text}" is not a CIDR`, text);
  }
  const ip = parseAddressPart(text, slash);
  const length = Number(digits);
  if (length > addressBits(ipFamily(ip))) {
    throw new NetError('ERR_NET_CIDR', `"${text}" has a prefix length above ${addressBits(ipFamily(ip))}`, text);
  }
  return { ip, length };
};

const parseAddressPart = (text: string, slash: number): Ip => {
  try {
    return parseIp(text.slice(0, slash));
  } catch (cause) {
    throw new NetError('ERR_NET_CIDR', `"${text}" is not a CIDR: ${(cause as Error).message}`, text);
  }
};
