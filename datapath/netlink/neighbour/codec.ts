/** Neighbours to and from bytes (rtnetlink(7), RTM_*NEIGH). */
import { type Family, ipFamily, ipToBytes } from '../../../net/ip.ts';
import { macFromBytes, macToBytes } from '../../../net/mac.ts';
import { netlinkFault } from '../errors.ts';
import { attribute, readAttributes } from '../wire/attributes.ts';
import { MessageType, readU16, readU32, writeU16, writeU32 } from '../wire/codec.ts';
import { NDA, NLM_F, NUD_PERMANENT } from '../wire/constants.ts';
import { familyNumber, familyOfNumber, ipFromBytes } from '../wire/ip-bytes.ts';
import type { NamedRequest } from '../wire/socket.ts';
import type { Neighbour, NewNeighbour } from './types.ts';

/** The neighbours of a family on all links as a dump. */
export const getNeighbours = (family: Family): NamedRequest => ({
  type: MessageType.GETNEIGH,
  flags: 0,
  payload: header(family, 0, 0),
  subject: `list IPv${family} neighbours`,
});

/** Adds it, or makes the one of that address permanent with that MAC. */
export const putNeighbour = ({ link, address, mac }: NewNeighbour, index: number): NamedRequest => ({
  type: MessageType.NEWNEIGH,
  flags: NLM_F.CREATE | NLM_F.REPLACE,
  payload: Buffer.concat([
    header(ipFamily(address), index, NUD_PERMANENT),
    attribute(NDA.DST, ipToBytes(address)),
    attribute(NDA.LLADDR, macToBytes(mac)),
  ]),
  subject: `put neighbour ${address} on link ${link}`,
});

export const deleteNeighbour = (
  { link, address }: Pick<NewNeighbour, 'link' | 'address'>,
  index: number,
): NamedRequest => ({
  type: MessageType.DELNEIGH,
  flags: 0,
  payload: Buffer.concat([header(ipFamily(address), index, 0), attribute(NDA.DST, ipToBytes(address))]),
  subject: `delete neighbour ${address} of link ${link}`,
});

export interface DecodedNeighbour extends Omit<Neighbour, 'link'> {
  readonly index: number;
}

/**
 * Undefined for what is not IP, for example a bridge's forwarding entry.
 * @throws NetlinkError ERR_NETLINK_MALFORMED
 */
export const decodeNeighbour = (bytes: Buffer): DecodedNeighbour | undefined => {
  if (bytes.length < HEADER_LENGTH) throw netlinkFault('ERR_NETLINK_MALFORMED', 'a neighbour is cut off');
  const family = familyOfNumber(bytes[0]);
  if (family === undefined) return undefined;
  const attributes = readAttributes(bytes.subarray(HEADER_LENGTH));
  const address = ipFromBytes(family, attributes.get(NDA.DST));
  // A proxy entry for all addresses has none.
  if (address === undefined) return undefined;
  const mac = attributes.get(NDA.LLADDR);
  return {
    index: readU32(bytes, INDEX_OFFSET),
    address,
    mac: mac?.length === 6 ? macFromBytes(mac) : undefined,
    permanent: (readU16(bytes, STATE_OFFSET) & NUD_PERMANENT) !== 0,
  };
};

/** `struct ndmsg`: family, three bytes of padding, index, state, flags, type. */
const HEADER_LENGTH = 12;
const INDEX_OFFSET = 4;
const STATE_OFFSET = 8;

const header = (family: Family, index: number, state: number): Buffer => {
  const bytes = Buffer.alloc(HEADER_LENGTH);
  bytes[0] = familyNumber(family);
  writeU32(bytes, index, INDEX_OFFSET);
  writeU16(bytes, state, STATE_OFFSET);
  return bytes;
};
