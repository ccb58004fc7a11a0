/** What X.509 needs of the Distinguished Encoding Rules (ITU-T X.690). */

const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  generalizedTime: 0x18,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Tag, length, contents. */
const element = (tag: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);

/** Short form up to 127, else the length of the length comes first (X.690 §8.1.3). */
const lengthOf = (length: number): Buffer => {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>= 8) bytes.unshift(rest & 0xff);
  return Buffer.of(0x80 | bytes.length, ...bytes);
};

export const sequence = (...parts: readonly Uint8Array[]): Buffer => element(TAGS.sequence, Buffer.concat(parts));

/** Of one element: more would have to be sorted. */
export const setOf = (part: Uint8Array): Buffer => element(TAGS.set, part);

export const boolean = (value: boolean): Buffer => element(TAGS.boolean, Buffer.of(value ? 0xff : 0));

/** A number that is not negative, from its bytes: a leading one bit would be a sign. */
export const integer = (bytes: Uint8Array): Buffer => {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.of(0) : bytes.subarray(first);
  const sign = (digits[0] ?? 0) >= 0x80 ? Buffer.of(0) : Buffer.alloc(0);
  return element(TAGS.integer, Buffer.concat([sign, digits]));
};

/** @param unused bits at its end */
export const bitString = (bytes: Uint8Array, unused = 0): Buffer =>
  element(TAGS.bitString, Buffer.concat([Buffer.of(unused), bytes]));

export const octetString = (bytes: Uint8Array): Buffer => element(TAGS.octetString, bytes);

export const utf8String = (text: string): Buffer => element(TAGS.utf8String, Buffer.from(text, 'utf8'));

/** @param text `1.2.840.10045.4.3.2` */
export const objectIdentifier = (text: string): Buffer => {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return element(TAGS.objectIdentifier, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
};

const base128 = (value: number): number[] => {
  const digits = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) digits.unshift(0x80 | (rest & 0x7f));
  return digits;
};

/** To the second; years before 2050 in the short form, as RFC 5280 §4.1.2.5 wants. */
export const time = (when: Date): Buffer => {
  const digits = `${when.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return when.getUTCFullYear() < 2050
    ? element(TAGS.utcTime, Buffer.from(digits.slice(2)))
    : element(TAGS.generalizedTime, Buffer.from(digits));
};

/** `[number]` around what is in it. */
export const explicit = (number: number, content: Uint8Array): Buffer => element(0xa0 | number, content);

/** `[number]` in place of the tag of what has no parts. */
export const implicit = (number: number, content: Uint8Array): Buffer => element(0x80 | number, content);
