import { type Cidr, networkOf } from '../../../net/cidr.ts';
import { type Family, type Ip, ipFromBigInt, parseIp } from '../../../net/ip.ts';
import { AF } from './constants.ts';

/** Undefined unless there are 4 or 16 bytes, as many as the family has. */
export const ipFromBytes = (family: Family, bytes: Uint8Array | undefined): Ip | undefined => {
  if (bytes?.length !== (family === 4 ? 4 : 16)) return undefined;
  return family === 4 ? parseIp(bytes.join('.')) : ipFromBigInt(6, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
};

/** The kernel leaves the address out of a prefix of length 0. */
export const cidrFromBytes = (family: Family, bytes: Uint8Array | undefined, length: number): Cidr | undefined => {
  const ip = bytes === undefined && length === 0 ? ANY[family] : ipFromBytes(family, bytes);
  return ip === undefined || length > (family === 4 ? 32 : 128) ? undefined : networkOf(ip, length);
};

export const familyNumber = (family: Family): number => (family === 4 ? AF.INET : AF.INET6);

/** Undefined for families that are not IP, for example MPLS. */
export const familyOfNumber = (number: number | undefined): Family | undefined =>
  number === AF.INET ? 4 : number === AF.INET6 ? 6 : undefined;

const ANY: Readonly<Record<Family, Ip>> = { 4: parseIp('0.0.0.0'), 6: parseIp('::') };
