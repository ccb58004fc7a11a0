/**
 * Attributes (type, length, value) of netlink messages. Reading is tolerant of the future: an attribute of unknown type
 * is left out by whoever reads by type, a value longer than today's is read as far as it is known.
 */
import { netlinkFault } from '../errors.ts';
import { formatAttribute, pad, parseAttributes, readU32 } from './codec.ts';

/** By type, the last one of a type wins. */
export type Attributes = ReadonlyMap<number, Buffer>;

/** @throws NetlinkError ERR_NETLINK_MALFORMED when an attribute is cut off */
export const readAttributes = (bytes: Buffer): Attributes => {
  const attributes = new Map<number, Buffer>();
  try {
    parseAttributes(bytes, ({ type, data }) => attributes.set(type, data));
  } catch (cause) {
    throw netlinkFault('ERR_NETLINK_MALFORMED', 'netlink attributes are cut off', cause);
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
  return value === undefined || value.length < 4 ? undefined : readU32.call(value, 0);
};

export const readByte = (attributes: Attributes, type: number): number | undefined => attributes.get(type)?.[0];

/** Up to the first NUL. */
export const readText = (attributes: Attributes, type: number): string | undefined => {
  const value = attributes.get(type);
  if (value === undefined) return undefined;
  const end = value.indexOf(0);
  return value.toString('utf8', 0, end < 0 ? value.length : end);
};

export const attribute = (type: number, value: Uint8Array): Buffer =>
  Buffer.concat(pad(formatAttribute({ type, data: value })));

export const nested = (type: number, ...children: readonly Uint8Array[]): Buffer =>
  Buffer.concat(pad(formatAttribute({ type, nested: true, data: [...children] })));

export const numberAttribute = (type: number, value: number): Buffer =>
  attribute(type, new Uint8Array(Uint32Array.of(value).buffer));

export const byteAttribute = (type: number, value: number): Buffer => attribute(type, Uint8Array.of(value));

/** With the NUL that the kernel wants at the end. */
export const textAttribute = (type: number, value: string): Buffer => attribute(type, Buffer.from(`${value}\0`));
