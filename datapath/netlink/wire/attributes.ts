/**
 * Attributes (type, length, value) of netlink messages. Reading is tolerant of the future: an attribute of unknown type
 * is left out by whoever reads by type, a value longer than today's is read as far as it is known.
 */
import { netlinkFault } from '../errors.ts';
import { readU16, readU32, writeU16, writeU32 } from './codec.ts';

/** By type, the last one of a type wins. */
export type Attributes = ReadonlyMap<number, Buffer>;

/** @throws NetlinkError ERR_NETLINK_MALFORMED when an attribute is cut off */
export const readAttributes = (bytes: Buffer): Attributes => {
  const attributes = new Map<number, Buffer>();
  for (let start = 0; start < bytes.length; ) {
    const length = start + HEADER_LENGTH > bytes.length ? 0 : readU16(bytes, start);
    if (length < HEADER_LENGTH || start + length > bytes.length) {
      throw netlinkFault('ERR_NETLINK_MALFORMED', 'netlink attributes are cut off');
    }
    const type = readU16(bytes, start + 2) & TYPE_MASK;
    attributes.set(type, bytes.subarray(start + HEADER_LENGTH, start + length));
    start += padded(length);
  }
  return attributes;
};

/** Attributes inside of an attribute; none when it is absent. */
export const readNested = (attributes: Attributes, type: number): Attributes => {
  const value = attributes.get(type);
  return value === undefined ? new Map() : readAttributes(value);
};

/** Undefined when the attribute is absent or too short. */
export const readNumber = (attributes: Attributes, type: number): number | undefined => {
  const value = attributes.get(type);
  return value === undefined || value.length < 4 ? undefined : readU32(value, 0);
};

export const readByte = (attributes: Attributes, type: number): number | undefined => attributes.get(type)?.[0];

/** Up to the first NUL. */
export const readText = (attributes: Attributes, type: number): string | undefined => {
  const value = attributes.get(type);
  if (value === undefined) return undefined;
  const end = value.indexOf(0);
  return value.toString('utf8', 0, end < 0 ? value.length : end);
};

export const attribute = (type: number, value: Uint8Array): Buffer => {
  const bytes = header(type, value.length);
  bytes.set(value, HEADER_LENGTH);
  return bytes;
};

export const nested = (type: number, ...children: readonly Uint8Array[]): Buffer =>
  attribute(type | NESTED, Buffer.concat(children));

export const numberAttribute = (type: number, value: number): Buffer => {
  const bytes = header(type, 4);
  writeU32(bytes, value, HEADER_LENGTH);
  return bytes;
};

export const byteAttribute = (type: number, value: number): Buffer => attribute(type, Uint8Array.of(value));

/** With the NUL that the kernel wants at the end. */
export const textAttribute = (type: number, value: string): Buffer => attribute(type, Buffer.from(`${value}\0`));

const HEADER_LENGTH = 4;
/** NLA_F_NESTED, and NLA_TYPE_MASK, which takes it and the byte order's flag away. */
const NESTED = 0x8000;
const TYPE_MASK = 0x3fff;

const padded = (length: number): number => (length + 3) & ~3;

/** `struct nlattr`, and room for the value, padded with zeros. */
const header = (type: number, length: number): Buffer => {
  const bytes = Buffer.alloc(padded(HEADER_LENGTH + length));
  writeU16(bytes, HEADER_LENGTH + length, 0);
  writeU16(bytes, type, 2);
  return bytes;
};
