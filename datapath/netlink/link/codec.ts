/** Links to and from bytes (rtnetlink(7), RTM_*LINK). */
import { macFromBytes, macToBytes } from '../../../net/mac.ts';
import { netlinkFault } from '../errors.ts';
import {
  type Attributes,
  attribute,
  byteAttribute,
  nested,
  numberAttribute,
  readAttributes,
  readByte,
  readNested,
  readNumber,
  readText,
  textAttribute,
} from '../wire/attributes.ts';
import { formatLink, MessageType, parseLink } from '../wire/codec.ts';
import {
  AF,
  IFF,
  IFLA,
  IFLA_INET6_ADDR_GEN_MODE,
  IFLA_INFO,
  IFLA_VRF_TABLE,
  NLM_F,
  RTEXT_FILTER_SKIP_STATS,
  VETH_INFO_PEER,
} from '../wire/constants.ts';
import type { NamedRequest } from '../wire/socket.ts';
import type { AddrGenMode, Link, LinkChange, NewMaster, NewVeth, NewVethEnd } from './types.ts';

/** One link by name, or all as a dump. */
export const getLink = (name?: string): NamedRequest => ({
  type: MessageType.GETLINK,
  flags: 0,
  payload: payload({}, numberAttribute(IFLA.EXT_MASK, RTEXT_FILTER_SKIP_STATS), ...named(name)),
  subject: name === undefined ? 'list links' : `get link ${name}`,
});

export const getLinkByIndex = (index: number): NamedRequest => ({
  type: MessageType.GETLINK,
  flags: 0,
  payload: payload({ index }, numberAttribute(IFLA.EXT_MASK, RTEXT_FILTER_SKIP_STATS)),
  subject: `get link with index ${index}`,
});

/**
 * Names, MACs, MTUs and groups of both ends are part of the creation: no moment exists in which a half-made pair could be
 * mistaken for somebody else's, and udev leaves the MAC of a link alone that was made with one.
 * @param peerNetnsFd an open namespace; undefined for the own one
 */
export const addVeth = (veth: NewVeth, peerNetnsFd: number | undefined): NamedRequest => {
  const other = payload(
    {},
    ...endAttributes(veth.peer),
    ...(peerNetnsFd === undefined ? [] : [numberAttribute(IFLA.NET_NS_FD, peerNetnsFd)]),
  );
  const info = nested(
    IFLA.LINKINFO,
    textAttribute(IFLA_INFO.KIND, 'veth'),
    nested(IFLA_INFO.DATA, attribute(VETH_INFO_PEER, other)),
  );
  return {
    type: MessageType.NEWLINK,
    flags: NLM_F.CREATE | NLM_F.EXCL,
    payload: payload({}, ...endAttributes(veth), info),
    subject: `add veth ${veth.name} with peer ${veth.peer.name}`,
  };
};

export const addMaster = (link: NewMaster): NamedRequest => ({
  type: MessageType.NEWLINK,
  flags: NLM_F.CREATE | NLM_F.EXCL,
  payload: payload(
    {},
    ...named(link.name),
    nested(
      IFLA.LINKINFO,
      textAttribute(IFLA_INFO.KIND, link.kind),
      ...(link.kind === 'vrf' ? [nested(IFLA_INFO.DATA, numberAttribute(IFLA_VRF_TABLE, link.table))] : []),
    ),
  ),
  subject: `add ${link.kind} ${link.name}`,
});

/** @param master index of `change.master`; 0 for null */
export const setLink = (name: string, change: LinkChange, master?: number): NamedRequest => ({
  type: MessageType.SETLINK,
  flags: 0,
  payload: payload(
    change.up === undefined ? {} : { flags: change.up ? IFF.UP : 0, change: IFF.UP },
    ...named(name),
    ...(change.mtu === undefined ? [] : [numberAttribute(IFLA.MTU, change.mtu)]),
    ...(change.mac === undefined ? [] : [attribute(IFLA.ADDRESS, macToBytes(change.mac))]),
    ...(change.alias === undefined ? [] : [textAttribute(IFLA.IFALIAS, change.alias)]),
    ...(change.group === undefined ? [] : [numberAttribute(IFLA.GROUP, change.group)]),
    ...(master === undefined ? [] : [numberAttribute(IFLA.MASTER, master)]),
  ),
  subject: `set ${Object.keys(change).join(', ')} of link ${name}`,
});

/** A request of its own: the kernel would apply it after `up` in the same one, which is too late. */
export const setAddrGenMode = (name: string, mode: AddrGenMode): NamedRequest => {
  const inet6 = nested(AF.INET6, byteAttribute(IFLA_INET6_ADDR_GEN_MODE, ADDR_GEN_MODES.indexOf(mode)));
  return {
    type: MessageType.SETLINK,
    flags: 0,
    payload: payload({}, ...named(name), nested(IFLA.AF_SPEC, inet6)),
    subject: `set IPv6 address generation of link ${name} to ${mode}`,
  };
};

export const deleteLink = (name: string): NamedRequest => ({
  type: MessageType.DELLINK,
  flags: 0,
  payload: payload({}, ...named(name)),
  subject: `delete link ${name}`,
});

/** All links of a group (`IFLA_GROUP`), at the price of one. */
export const deleteGroup = (group: number): NamedRequest => ({
  type: MessageType.DELLINK,
  flags: 0,
  payload: payload({}, numberAttribute(IFLA.GROUP, group)),
  subject: `delete links of group ${group}`,
});

/** @throws NetlinkError ERR_NETLINK_MALFORMED */
export const decodeLink = (bytes: Buffer): Link => {
  if (bytes.length < HEADER_LENGTH) throw netlinkFault('ERR_NETLINK_MALFORMED', 'a link is cut off');
  const { index, flags } = parseLink(bytes);
  const attributes = readAttributes(bytes.subarray(HEADER_LENGTH));
  const address = attributes.get(IFLA.ADDRESS);
  const info = readNested(attributes, IFLA.LINKINFO);
  const kind = readText(info, IFLA_INFO.KIND);
  const table = kind === 'vrf' ? readNumber(readNested(info, IFLA_INFO.DATA), IFLA_VRF_TABLE) : undefined;
  return {
    index,
    name: readText(attributes, IFLA.IFNAME) ?? '',
    kind,
    mac: address?.length === 6 ? macFromBytes(address) : undefined,
    mtu: readNumber(attributes, IFLA.MTU) ?? 0,
    up: (flags & IFF.UP) !== 0,
    carrier: (flags & IFF.LOWER_UP) !== 0,
    master: readNumber(attributes, IFLA.MASTER),
    alias: readText(attributes, IFLA.IFALIAS),
    group: readNumber(attributes, IFLA.GROUP) ?? 0,
    peer: peerOf(attributes),
    addrGenMode: addrGenModeOf(attributes),
    ...(table === undefined ? {} : { vrfTable: table }),
  };
};

const HEADER_LENGTH = 16;
/** By their number in if_link.h. */
const ADDR_GEN_MODES: readonly AddrGenMode[] = ['eui64', 'none', 'stable-privacy', 'random'];

const payload = (header: Parameters<typeof formatLink>[0], ...attributes: readonly Uint8Array[]): Buffer =>
  Buffer.concat([formatLink(header), ...attributes]);

const named = (name: string | undefined): Buffer[] => (name === undefined ? [] : [textAttribute(IFLA.IFNAME, name)]);

/**
 * One queue: since 5.15 a veth gets as many as the machine has processors, each with two sysfs objects and an event to
 * udev, so that a pair takes milliseconds on a large machine. Only XDP and NAPI on the veth itself use more than one.
 */
const endAttributes = ({ name, mac, mtu, group }: NewVethEnd): Buffer[] => [
  textAttribute(IFLA.IFNAME, name),
  attribute(IFLA.ADDRESS, macToBytes(mac)),
  numberAttribute(IFLA.MTU, mtu),
  numberAttribute(IFLA.GROUP, group),
  numberAttribute(IFLA.NUM_TX_QUEUES, 1),
  numberAttribute(IFLA.NUM_RX_QUEUES, 1),
];

const peerOf = (attributes: Attributes): Link['peer'] => {
  const index = readNumber(attributes, IFLA.LINK);
  return index === undefined ? undefined : { index, netnsid: readNumber(attributes, IFLA.LINK_NETNSID) };
};

const addrGenModeOf = (attributes: Attributes): AddrGenMode | undefined => {
  const mode = readByte(readNested(readNested(attributes, IFLA.AF_SPEC), AF.INET6), IFLA_INET6_ADDR_GEN_MODE);
  return mode === undefined ? undefined : ADDR_GEN_MODES[mode];
};
