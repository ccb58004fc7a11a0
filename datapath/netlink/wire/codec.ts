/**
 * The byte formats in the order of the machine: headers of messages (netlink(7)) and the fixed structures of rtnetlink(7).
 * Numbers are those of include/uapi/linux/rtnetlink.h. `attributes.ts` reads and writes what follows them.
 */
import { endianness } from 'node:os';

const IS_LITTLE = endianness() === 'LE';

export const readU16 = (bytes: Buffer, at: number): number =>
  IS_LITTLE ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);

export const readU32 = (bytes: Buffer, at: number): number =>
  IS_LITTLE ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);

export const writeU16 = (bytes: Buffer, value: number, at: number): number =>
  IS_LITTLE ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);

export const writeU32 = (bytes: Buffer, value: number, at: number): number =>
  IS_LITTLE ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at);

/** `RTM_*` */
export const MessageType = {
  NEWLINK: 16,
  DELLINK: 17,
  GETLINK: 18,
  SETLINK: 19,
  NEWADDR: 20,
  DELADDR: 21,
  GETADDR: 22,
  NEWROUTE: 24,
  DELROUTE: 25,
  GETROUTE: 26,
  NEWNEIGH: 28,
  DELNEIGH: 29,
  GETNEIGH: 30,
  NEWRULE: 32,
  DELRULE: 33,
  GETRULE: 34,
  GETNSID: 90,
  NEWNETCONF: 80,
} as const;

export interface Message {
  readonly type: number;
  readonly flags: number;
  readonly seq: number;
  readonly data: Buffer;
}

/** `struct nlmsghdr` */
const MESSAGE_HEADER = 16;

export const formatMessage = (type: number, flags: number, seq: number, data: Uint8Array): Uint8Array[] => {
  const header = Buffer.alloc(MESSAGE_HEADER);
  writeU32(header, MESSAGE_HEADER + data.length, 0);
  writeU16(header, type, 4);
  writeU16(header, flags, 6);
  writeU32(header, seq, 8);
  return [header, data];
};

/** @throws RangeError when one is cut off */
export const parseMessages = (bytes: Buffer): Message[] => {
  const messages: Message[] = [];
  for (let start = 0; start < bytes.length; ) {
    const length = readU32(bytes, start);
    const end = start + length;
    if (length < MESSAGE_HEADER || end > bytes.length) throw new RangeError(`a message of ${length} bytes`);
    messages.push({
      type: readU16(bytes, start + 4),
      flags: readU16(bytes, start + 6),
      seq: readU32(bytes, start + 8),
      data: bytes.subarray(start + MESSAGE_HEADER, end),
    });
    // Each begins at a multiple of four.
    start += Math.ceil(length / 4) * 4;
  }
  return messages;
};

/** `struct ifinfomsg` */
export const formatLink = ({ index = 0, flags = 0, change = 0 }): Buffer => {
  const bytes = Buffer.alloc(16);
  writeU32(bytes, index, 4);
  writeU32(bytes, flags, 8);
  writeU32(bytes, change, 12);
  return bytes;
};

export const parseLink = (bytes: Buffer) => ({ index: readU32(bytes, 4), flags: readU32(bytes, 8) });

/** `struct ifaddrmsg`. It has room for eight bits of flags: all of them are in `IFA_FLAGS`. */
export const formatAddress = ({ family = 0, prefixlen = 0, scope = 0, index = 0 }): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.set([family, prefixlen, 0, scope]);
  writeU32(bytes, index, 4);
  return bytes;
};

export const parseAddress = (bytes: Buffer) => ({
  family: bytes.readUInt8(0),
  prefixlen: bytes.readUInt8(1),
  scope: bytes.readUInt8(3),
  index: readU32(bytes, 4),
});

/** `struct rtmsg` */
export const formatRoute = ({
  family = 0,
  dstLen = 0,
  table = 0,
  protocol = 0,
  scope = 0,
  type = 0,
  flags = 0,
}): Buffer => {
  const bytes = Buffer.alloc(12);
  bytes.set([family, dstLen, 0, 0, table, protocol, scope, type]);
  writeU32(bytes, flags, 8);
  return bytes;
};

export const parseRoute = (bytes: Buffer) => ({
  family: bytes.readUInt8(0),
  dstLen: bytes.readUInt8(1),
  table: bytes.readUInt8(4),
  protocol: bytes.readUInt8(5),
  type: bytes.readUInt8(7),
  flags: readU32(bytes, 8),
});
