/** The ids that a network namespace has for others (ip-netns(8), RTM_GETNSID). */
import { numberAttribute, readAttributes, readNumber } from './attributes.ts';
import { MessageType } from './codec.ts';
import { NETNSA } from './constants.ts';
import type { NamedRequest } from './socket.ts';

export const getNetnsid = (netnsFd: number): NamedRequest => ({
  type: MessageType.GETNSID,
  flags: 0,
  payload: Buffer.concat([HEADER, numberAttribute(NETNSA.FD, netnsFd)]),
  subject: 'get id of network namespace',
});

/** Undefined when the namespace has none yet. */
export const decodeNetnsid = (bytes: Buffer): number | undefined => {
  const id = readNumber(readAttributes(bytes.subarray(HEADER.length)), NETNSA.NSID);
  return id === undefined || id === NOT_ASSIGNED ? undefined : id;
};

/** `struct rtgenmsg`, padded: any family. */
const HEADER = Buffer.alloc(4);
/** NETNSA_NSID_NOT_ASSIGNED, −1. */
const NOT_ASSIGNED = 0xffff_ffff;
