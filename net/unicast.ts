/** Which addresses one host can have. Pure. */
import { cidrContainsIp, parseCidr } from './cidr.ts';
import type { Ip } from './ip.ts';

/** Not `0.0.0.0/8`, loopback, multicast or broadcast to all: the kernel takes none of these for a next hop on a link. */
export const isUnicastIp = (ip: Ip): boolean => !OTHERS.some((range) => cidrContainsIp(range, ip));

const OTHERS = ['0.0.0.0/8', '127.0.0.0/8', '224.0.0.0/4', '255.255.255.255/32', '::/127', 'ff00::/8'].map(parseCidr);
