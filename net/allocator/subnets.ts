/** Cuts subnets of one length out of one or more networks, lowest first. A value: operations return the next state. */

import { addressOf, type Cidr, cidrFamily, offsetIn, prefixLength, subnetAt } from '../cidr.ts';
import { NetError } from '../errors.ts';
import { addressBits } from '../ip.ts';
import { type Bitmap, emptyBitmap, firstGap, hasBit, withBit, withoutBit } from './bitmap.ts';

/** One network and the prefix length of the subnets cut from it. */
export interface SubnetRange {
  readonly cidr: Cidr;
  readonly hostPrefix: number;
}

export interface SubnetPool {
  readonly ranges: readonly (SubnetRange & { readonly used: Bitmap })[];
}

/** @throws NetError ERR_NET_RANGE when a host prefix does not fit its network */
export const subnetPool = (ranges: readonly SubnetRange[]): SubnetPool => ({
  ranges: ranges.map((range) => {
    if (range.hostPrefix < prefixLength(range.cidr) || range.hostPrefix > addressBits(cidrFamily(range.cidr))) {
      throw new NetError('ERR_NET_RANGE', `${range.cidr} has no subnets of length /${range.hostPrefix}`, range.cidr);
    }
    return { ...range, used: emptyBitmap };
  }),
});

/** @throws NetError ERR_NET_EXHAUSTED */
export const allocateSubnet = (pool: SubnetPool): { pool: SubnetPool; subnet: Cidr } => {
  for (const [position, range] of pool.ranges.entries()) {
    const index = firstGap(range.used, 0n, lastIndex(range));
    if (index === undefined) continue;
    return {
      pool: withRange(pool, position, withBit(range.used, index)),
      subnet: subnetAt(range.cidr, range.hostPrefix, index),
    };
  }
  const names = pool.ranges.map((range) => `${range.cidr}/${range.hostPrefix}`).join(', ');
  throw new NetError('ERR_NET_EXHAUSTED', `no subnet left in ${names}`, names);
};

/**
 * Marks a subnet as used.
 * @throws NetError ERR_NET_RANGE when no range has it, ERR_NET_CONFLICT when it is taken
 */
export const reserveSubnet = (pool: SubnetPool, subnet: Cidr): SubnetPool => {
  const location = find(pool, subnet);
  if (location === undefined) throw new NetError('ERR_NET_RANGE', `${subnet} is not a subnet of this pool`, subnet);
  if (hasBit(location.used, location.index))
    throw new NetError('ERR_NET_CONFLICT', `subnet ${subnet} is in use already`, subnet);
  return withRange(pool, location.position, withBit(location.used, location.index));
};

/** Absent is success. */
export const releaseSubnet = (pool: SubnetPool, subnet: Cidr): SubnetPool => {
  const location = find(pool, subnet);
  return location === undefined ? pool : withRange(pool, location.position, withoutBit(location.used, location.index));
};

const lastIndex = (range: SubnetRange): bigint => (1n << BigInt(range.hostPrefix - prefixLength(range.cidr))) - 1n;

const withRange = (pool: SubnetPool, position: number, used: Bitmap): SubnetPool => ({
  ranges: pool.ranges.map((range, at) => (at === position ? { ...range, used } : range)),
});

const find = (pool: SubnetPool, subnet: Cidr): { position: number; index: bigint; used: Bitmap } | undefined => {
  for (const [position, range] of pool.ranges.entries()) {
    if (prefixLength(subnet) !== range.hostPrefix) continue;
    const offset = offsetIn(range.cidr, addressOf(subnet));
    if (offset === undefined) continue;
    const hostBits = BigInt(addressBits(cidrFamily(subnet)) - range.hostPrefix);
    return { position, index: offset >> hostBits, used: range.used };
  }
  return undefined;
};
