/** Gives out addresses of one network, lowest first. A value: every operation returns the next state. */
import { addressAt, addressOf, type Cidr, cidrContains, cidrFamily, cidrSize, offsetIn } from '../cidr.ts';
import { NetError } from '../errors.ts';
import type { Ip } from '../ip.ts';
import { type Bitmap, emptyBitmap, firstGap, hasBit, withBit, withoutBit } from './bitmap.ts';

export interface AddressPool {
  readonly cidr: Cidr;
  /** Parts of the network that are never given out by themselves, sorted by their first offset. */
  readonly excluded: readonly OffsetRange[];
  readonly used: Bitmap;
}

interface OffsetRange {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * The network and, for IPv4, the broadcast address are never given out.
 * @param excluded parts of `cidr` to leave out; parts outside of it are ignored
 */
export const addressPool = (cidr: Cidr, excluded: readonly Cidr[] = []): AddressPool => ({
  cidr,
  excluded: [...ends(cidr), ...excluded.flatMap((part) => rangeIn(cidr, part))].sort((a, b) =>
    a.first < b.first ? -1 : 1,
  ),
  used: emptyBitmap,
});

/** @throws NetError ERR_NET_EXHAUSTED */
export const allocateAddress = (pool: AddressPool): { pool: AddressPool; ip: Ip } => {
  const offset = firstFree(pool);
  if (offset === undefined) {
    throw new NetError('ERR_NET_EXHAUSTED', `subnet ${pool.cidr} has no free address left`, pool.cidr);
  }
  return { pool: { ...pool, used: withBit(pool.used, offset) }, ip: addressAt(pool.cidr, offset) };
};

export const hasFreeAddress = (pool: AddressPool): boolean => firstFree(pool) !== undefined;

/**
 * Marks one address as used, for example a recovered one or one that a user asked for. It may lie in an excluded part.
 * @throws NetError ERR_NET_RANGE or, when it is taken already, ERR_NET_CONFLICT
 */
export const reserveAddress = (pool: AddressPool, ip: Ip): AddressPool => {
  const offset = offsetIn(pool.cidr, ip);
  if (offset === undefined) throw new NetError('ERR_NET_RANGE', `${ip} is not in subnet ${pool.cidr}`, ip);
  if (hasBit(pool.used, offset)) throw new NetError('ERR_NET_CONFLICT', `address ${ip} is in use already`, ip);
  return { ...pool, used: withBit(pool.used, offset) };
};

/** Absent is success. */
export const releaseAddress = (pool: AddressPool, ip: Ip): AddressPool => {
  const offset = offsetIn(pool.cidr, ip);
  return offset === undefined ? pool : { ...pool, used: withoutBit(pool.used, offset) };
};

export const isAddressUsed = (pool: AddressPool, ip: Ip): boolean => {
  const offset = offsetIn(pool.cidr, ip);
  return offset !== undefined && hasBit(pool.used, offset);
};

/** How many addresses are left to be given out by themselves. @param used all that are in use, of this network or not */
export const freeAddresses = (pool: AddressPool, used: Iterable<Ip>): bigint => {
  let free = 0n;
  let from = 0n;
  for (const { first, last } of [...pool.excluded, { first: cidrSize(pool.cidr), last: cidrSize(pool.cidr) }]) {
    if (from < first) free += first - from;
    if (last >= from) from = last + 1n;
  }
  for (const ip of used) {
    const offset = offsetIn(pool.cidr, ip);
    if (offset !== undefined && !pool.excluded.some(({ first, last }) => first <= offset && offset <= last)) free -= 1n;
  }
  return free;
};

const firstFree = (pool: AddressPool): bigint | undefined => {
  let from = 0n;
  for (const range of [...pool.excluded, { first: cidrSize(pool.cidr), last: cidrSize(pool.cidr) }]) {
    if (from < range.first) {
      const gap = firstGap(pool.used, from, range.first - 1n);
      if (gap !== undefined) return gap;
    }
    if (range.last >= from) from = range.last + 1n;
  }
  return undefined;
};

/** Networks of one or two addresses (RFC 3021, RFC 6164) have neither a network nor a broadcast address. */
const ends = (cidr: Cidr): OffsetRange[] => {
  const last = cidrSize(cidr) - 1n;
  if (last < 2n) return [];
  const network = { first: 0n, last: 0n };
  return cidrFamily(cidr) === 4 ? [network, { first: last, last }] : [network];
};

const rangeIn = (cidr: Cidr, part: Cidr): OffsetRange[] => {
  if (cidrFamily(part) !== cidrFamily(cidr)) return [];
  if (cidrContains(part, cidr)) return [{ first: 0n, last: cidrSize(cidr) - 1n }];
  const first = offsetIn(cidr, addressOf(part));
  return first === undefined ? [] : [{ first, last: first + cidrSize(part) - 1n }];
};
