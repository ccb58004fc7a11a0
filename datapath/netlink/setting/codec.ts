/** Settings of links from bytes (include/uapi/linux/netconf.h): the few that the kernel reports when they change. */
import type { Family } from '../../../net/ip.ts';
import { netlinkFault } from '../errors.ts';
import { readAttributes, readNumber } from '../wire/attributes.ts';
import { NETCONFA } from '../wire/constants.ts';
import { familyOfNumber } from '../wire/ip-bytes.ts';

export interface DecodedSettings {
  readonly family: Family;
  /** Of a link; `all` and `default` have negative ones. */
  readonly index: number;
  /** By the name below /proc/sys/net/ipvN/conf/LINK. */
  readonly values: readonly (readonly [name: string, value: string])[];
}

/**
 * Undefined for a family that is not IP.
 * @throws NetlinkError ERR_NETLINK_MALFORMED
 */
export const decodeSettings = (bytes: Buffer): DecodedSettings | undefined => {
  const [number] = bytes;
  if (number === undefined) throw netlinkFault('ERR_NETLINK_MALFORMED', 'a setting is cut off');
  const family = familyOfNumber(number);
  if (family === undefined) return undefined;
  const attributes = readAttributes(bytes.subarray(HEADER_LENGTH));
  const index = readNumber(attributes, NETCONFA.IFINDEX);
  if (index === undefined) throw netlinkFault('ERR_NETLINK_MALFORMED', 'a setting has no link');
  const values = NAMES.flatMap(([type, name]) => {
    const value = readNumber(attributes, type);
    return value === undefined ? [] : [[name, String(value | 0)] as const];
  });
  return { family, index: index | 0, values };
};

/** struct netconfmsg is one byte, which is padded. */
const HEADER_LENGTH = 4;
const NAMES = [
  [NETCONFA.FORWARDING, 'forwarding'],
  [NETCONFA.RP_FILTER, 'rp_filter'],
] as const;
