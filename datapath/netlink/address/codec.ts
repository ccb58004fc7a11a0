/** Addresses to and from bytes (rtnetlink(7), RTM_*ADDR). */
import { addressOf, cidrFamily, interfaceAddress, prefixLength } from '../../../net/cidr.ts';
import { ipToBytes } from '../../../net/ip.ts';
import { netlinkFault } from '../errors.ts';
import { attribute, numberAttribute, readAttributes, readNumber, readText, textAttribute } from '../wire/attributes.ts';
import { formatAddress, MessageType, parseAddress } from '../wire/codec.ts';
import { IFA, IFA_F, INFINITY_LIFE_TIME, NLM_F, RT_SCOPE } from '../wire/constants.ts';
import { familyNumber, familyOfNumber, ipFromBytes } from '../wire/ip-bytes.ts';
import type { NamedRequest } from '../wire/socket.ts';
import type { Address, AddressScope, NewAddress } from './types.ts';

/** The addresses of one link as a dump, or of all. */
export const getAddresses = (index?: number): NamedRequest => ({
  type: MessageType.GETADDR,
  flags: 0,
  payload: formatAddress({ index: index ?? 0 }),
  subject: 'list addresses',
});

/** Adds it, or changes it to be as desired. */
export const putAddress = (address: NewAddress, index: number): NamedRequest => ({
  type: MessageType.NEWADDR,
  flags: NLM_F.CREATE | NLM_F.REPLACE,
  payload: payload(address, index, ...detailAttributes(address)),
  subject: `put address ${address.address} on link ${address.link}`,
});

export const deleteAddress = (address: NewAddress, index: number): NamedRequest => ({
  type: MessageType.DELADDR,
  flags: 0,
  payload: payload(address, index),
  subject: `delete address ${address.address} of link ${address.link}`,
});

export interface DecodedAddress extends Omit<Address, 'link'> {
  readonly index: number;
}

/**
 * Undefined for a family that is not IP.
 * @throws NetlinkError ERR_NETLINK_MALFORMED
 */
export const decodeAddress = (bytes: Buffer): DecodedAddress | undefined => {
  if (bytes.length < HEADER_LENGTH) throw netlinkFault('ERR_NETLINK_MALFORMED', 'an address is cut off');
  const header = parseAddress(bytes);
  const family = familyOfNumber(header.family);
  if (family === undefined) return undefined;
  const attributes = readAttributes(bytes.subarray(HEADER_LENGTH));
  // On a point-to-point link IFA_ADDRESS is the other end. IPv6 leaves IFA_LOCAL out otherwise.
  const ip = ipFromBytes(family, attributes.get(IFA.LOCAL) ?? attributes.get(IFA.ADDRESS));
  const length = header.prefixlen;
  if (ip === undefined || length > (family === 4 ? 32 : 128)) {
    throw netlinkFault('ERR_NETLINK_MALFORMED', 'an address has no address');
  }
  const flags = readNumber(attributes, IFA.FLAGS) ?? bytes[FLAGS_OFFSET] ?? 0;
  return {
    index: header.index,
    address: interfaceAddress(ip, length),
    scope: scopeOf(header.scope),
    state: stateOf(flags),
    ...optional('broadcast', ipFromBytes(family, attributes.get(IFA.BROADCAST))),
    ...optional('label', readText(attributes, IFA.LABEL)),
    ...((flags & IFA_F.NOPREFIXROUTE) === 0 ? {} : { noPrefixRoute: true }),
    ...((flags & IFA_F.DEPRECATED) === 0 ? {} : { deprecated: true }),
    ...optional('metric', readNumber(attributes, IFA.RT_PRIORITY)),
  };
};

const HEADER_LENGTH = 8;
const FLAGS_OFFSET = 2;

const payload = ({ address }: NewAddress, index: number, ...attributes: readonly Uint8Array[]): Buffer => {
  const family = cidrFamily(address);
  const bytes = ipToBytes(addressOf(address));
  return Buffer.concat([
    formatAddress({ family: familyNumber(family), prefixlen: prefixLength(address), index }),
    attribute(IFA.LOCAL, bytes),
    attribute(IFA.ADDRESS, bytes),
    ...attributes,
  ]);
};

const detailAttributes = (desired: NewAddress): Buffer[] => {
  const { address, broadcast, label, noPrefixRoute, deprecated, detectDuplicates, metric } = desired;
  const isTrusted = cidrFamily(address) === 6 && detectDuplicates !== true;
  const flags = (isTrusted ? IFA_F.NODAD : 0) | (noPrefixRoute === true ? IFA_F.NOPREFIXROUTE : 0);
  return [
    ...(flags === 0 ? [] : [numberAttribute(IFA.FLAGS, flags)]),
    ...(deprecated === true ? [attribute(IFA.CACHEINFO, NEVER_PREFERRED)] : []),
    ...(broadcast === undefined ? [] : [attribute(IFA.BROADCAST, ipToBytes(broadcast))]),
    ...(label === undefined ? [] : [textAttribute(IFA.LABEL, label)]),
    ...(metric === undefined ? [] : [numberAttribute(IFA.RT_PRIORITY, metric)]),
  ];
};

const optional = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });

/** `struct ifa_cacheinfo`: preferred and valid for how many seconds, and two times that only the kernel sets. */
const NEVER_PREFERRED = new Uint8Array(Uint32Array.of(0, INFINITY_LIFE_TIME, 0, 0).buffer);

const scopeOf = (scope: number): AddressScope => {
  if (scope === RT_SCOPE.UNIVERSE) return 'global';
  if (scope === RT_SCOPE.LINK) return 'link';
  return scope === RT_SCOPE.HOST ? 'host' : 'site';
};

const stateOf = (flags: number): Address['state'] => {
  if ((flags & IFA_F.DADFAILED) !== 0) return 'duplicate';
  return (flags & IFA_F.TENTATIVE) !== 0 ? 'tentative' : 'valid';
};
