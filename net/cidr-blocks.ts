/**
 * Blocks of addresses less what is excepted from each of them, as prefixes. `ipBlock` of a NetworkPolicy is one such block: an
 * `except` is about its own block and no other (https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/).
 * It works with intervals, so that its cost follows the number of blocks and excepts and not what they make together.
 */
import { addressOf, type Cidr, cidrFamily, cidrSize } from './cidr.ts';
import { addressBits, type Family, ipFromBigInt, ipToBigInt } from './ip.ts';

export interface Block {
  readonly cidr: Cidr;
  /** Parts of `cidr`. */
  readonly except: readonly Cidr[];
}

/**
 * The fewest prefixes that have exactly the addresses of all blocks of the family, ordered by address; none overlaps another.
 * @returns undefined when there are more than `limit`: it stops there
 */
export const prefixesOf = (family: Family, blocks: readonly Block[], limit: number): readonly Cidr[] | undefined => {
  const own = blocks.filter(({ cidr }) => cidrFamily(cidr) === family);
  if (own.length <= 1 && own.every(({ except }) => except.length === 0))
    return own.length <= limit ? own.map(({ cidr }) => cidr) : undefined;
  const prefixes: Cidr[] = [];
  for (const interval of merged(own.flatMap(intervalsOf)))
    if (!addPrefixes(family, interval, prefixes, limit)) return undefined;
  return prefixes;
};

/** Both ends are in it. */
interface Interval {
  readonly first: bigint;
  readonly last: bigint;
}

const intervalOf = (cidr: Cidr): Interval => {
  const first = ipToBigInt(addressOf(cidr));
  return { first, last: first + cidrSize(cidr) - 1n };
};

/** What is left of a block between its excepts. */
const intervalsOf = ({ cidr, except }: Block): Interval[] => {
  const whole = intervalOf(cidr);
  const left: Interval[] = [];
  let next = whole.first;
  for (const { first, last } of merged(except.map(intervalOf))) {
    if (last < next) continue;
    if (first > whole.last) break;
    if (first > next) left.push({ first: next, last: first - 1n });
    next = last + 1n;
  }
  if (next <= whole.last) left.push({ first: next, last: whole.last });
  return left;
};

/** Ordered, and what overlaps or touches is one. */
const merged = (intervals: Interval[]): Interval[] => {
  intervals.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const result: Interval[] = [];
  for (const interval of intervals) {
    const before = result.at(-1);
    if (before === undefined || interval.first > before.last + 1n) result.push(interval);
    else if (interval.last > before.last) result[result.length - 1] = { first: before.first, last: interval.last };
  }
  return result;
};

/** The largest prefix that begins at the first address and ends in the interval, and so on behind it. */
const addPrefixes = (family: Family, { first, last }: Interval, prefixes: Cidr[], limit: number): boolean => {
  const bits = addressBits(family);
  let next = first;
  while (next <= last) {
    if (prefixes.length >= limit) return false;
    const hostBits = largestHostBits(next, last, bits);
    prefixes.push(`${ipFromBigInt(family, next)}/${bits - hostBits}` as Cidr);
    next += 1n << BigInt(hostBits);
  }
  return true;
};

const largestHostBits = (first: bigint, last: bigint, bits: number): number => {
  let hostBits = 0;
  while (hostBits < bits) {
    const size = 1n << BigInt(hostBits + 1);
    if ((first & (size - 1n)) !== 0n || first + size - 1n > last) break;
    hostBits += 1;
  }
  return hostBits;
};
