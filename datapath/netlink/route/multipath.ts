/** The next hops of a route that has several (rtnetlink(7), RTA_MULTIPATH). Read only: no one here makes such routes. */
import type { Family, Ip } from '../../../net/ip.ts';
import { netlinkFault } from '../errors.ts';
import { type Attributes, readAttributes } from '../wire/attributes.ts';
import { readU16, readU32 } from '../wire/codec.ts';

export interface DecodedHop {
  readonly index: number;
  /** Absent when the destination is on the link. */
  readonly via?: Ip;
}

/**
 * `struct rtnexthop`, each with its attributes behind it: u16 length of both, flags, weight − 1, and the index of the link
 * (linux/rtnetlink.h, RTNH_NEXT).
 * @throws NetlinkError ERR_NETLINK_MALFORMED
 */
export const readHops = (
  family: Family,
  bytes: Buffer,
  gatewayOf: (family: Family, attributes: Attributes) => Ip | undefined,
): DecodedHop[] => {
  const hops: DecodedHop[] = [];
  for (let start = 0; start < bytes.length; ) {
    const length = start + HEADER_LENGTH > bytes.length ? 0 : readU16(bytes, start);
    if (length < HEADER_LENGTH || start + length > bytes.length) {
      throw netlinkFault('ERR_NETLINK_MALFORMED', 'the next hops of a route are cut off');
    }
    const via = gatewayOf(family, readAttributes(bytes.subarray(start + HEADER_LENGTH, start + length)));
    hops.push({ index: readU32(bytes, start + INDEX_OFFSET), ...(via === undefined ? {} : { via }) });
    start += (length + 3) & ~3;
  }
  return hops;
};

const HEADER_LENGTH = 8;
const INDEX_OFFSET = 4;
