/**
 * Node annotations that hold one address per family, `{"ipv4":"100.88.0.2/16","ipv6":"fd97::2/64"}`:
 * `node-transit-switch-port-ifaddr`, `node-primary-ifaddr` and, with networks in them, `node-masquerade-subnet`, which is only written.
 */
import { z } from 'zod';
import { type Cidr, cidrFamily, type InterfaceAddress } from '../../net/cidr.ts';
import { ApiError } from '../errors.ts';
import { NODE_ANNOTATIONS } from '../names.ts';
import { parseJsonWith } from '../parse.ts';
import { interfaceAddressSchema } from '../scalars.ts';
import { annotationOf } from './annotation-of.ts';

/** IPv4 first. @throws ApiError */
export const parseTransitAddresses = (text: string, node: string): readonly InterfaceAddress[] =>
  parsePair(text, annotationOf('Node', NODE_ANNOTATIONS.transitAddresses, node));

/** IPv4 first. @throws ApiError */
export const parsePrimaryAddresses = (text: string, node: string): readonly InterfaceAddress[] =>
  parsePair(text, annotationOf('Node', NODE_ANNOTATIONS.primaryAddresses, node));

/** At most one of each family. */
export const formatAddressPair = (addresses: readonly (InterfaceAddress | Cidr)[]): string =>
  JSON.stringify({
    ipv4: addresses.find((address) => cidrFamily(address) === 4),
    ipv6: addresses.find((address) => cidrFamily(address) === 6),
  });

const parsePair = (text: string, object: string): readonly InterfaceAddress[] => {
  const { ipv4, ipv6 } = parseJsonWith(pairSchema, text, object);
  return [...inFamily(ipv4, 4, object), ...inFamily(ipv6, 6, object)];
};

const emptyOrAddress = z.preprocess((value) => (value === '' ? undefined : value), interfaceAddressSchema.optional());
const pairSchema = z.object({ ipv4: emptyOrAddress, ipv6: emptyOrAddress });

const inFamily = (address: InterfaceAddress | undefined, family: 4 | 6, object: string): InterfaceAddress[] => {
  if (address === undefined) return [];
  if (cidrFamily(address) === family) return [address];
  const field = `ipv${family}`;
  throw new ApiError('ERR_API_FIELD', `${field}: "${address}" is not an IPv${family} address`, { object, field });
};
