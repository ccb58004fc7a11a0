/**
 * Addresses as four 32-bit words, signed as bit operators have them: reading, writing and comparing them takes no big
 * integers, which is where the time goes otherwise. An IPv4 address is the last word, the others are 0.
 */
export type IpWords = readonly [number, number, number, number];

/** @param text an IPv4 address as `isIPv4` takes it */
export const wordsOfIpv4 = (text: string): IpWords => {
  let value = 0;
  let octet = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === DOT) {
      value = (value << 8) | octet;
      octet = 0;
    } else octet = octet * 10 + code - ZERO;
  }
  return [0, 0, 0, (value << 8) | octet];
};

/**
 * @param text an IPv6 address without a zone and without a dotted part (RFC 4291 section 2.2, forms 1 and 2)
 * @returns undefined when it is none
 */
export const wordsOfIpv6 = (text: string): IpWords | undefined => {
  const groups: number[] = [];
  let gap = text.startsWith('::') ? 0 : -1;
  let at = gap === 0 ? 2 : 0;
  while (at < text.length) {
    const start = at;
    at = endOfGroup(text, start);
    if (at === start || at - start > 4) return undefined;
    groups.push(groupOf(text, start, at));
    if (at === text.length) break;
    if (text.charCodeAt(at) !== COLON) return undefined;
    at += 1;
    if (at === text.length) return undefined;
    if (text.charCodeAt(at) !== COLON) continue;
    if (gap >= 0) return undefined;
    gap = groups.length;
    at += 1;
  }
  return withGap(groups, gap);
};

const endOfGroup = (text: string, start: number): number => {
  let end = start;
  while (end < text.length && hexValue(text.charCodeAt(end)) >= 0) end += 1;
  return end;
};

const groupOf = (text: string, start: number, end: number): number => {
  let group = 0;
  for (let at = start; at < end; at += 1) group = group * 16 + hexValue(text.charCodeAt(at));
  return group;
};

/** The eight groups, with as many zeros in the gap as are missing: one at least. */
const withGap = (groups: readonly number[], gap: number): IpWords | undefined => {
  const missing = 8 - groups.length;
  if (gap < 0 ? missing !== 0 : missing < 1) return undefined;
  const groupAt = (n: number): number =>
    (gap < 0 || n < gap ? groups[n] : n < gap + missing ? 0 : groups[n - missing]) ?? 0;
  const wordAt = (n: number): number => (groupAt(n) << 16) | groupAt(n + 1);
  return [wordAt(0), wordAt(2), wordAt(4), wordAt(6)];
};

export const ipv4OfWords = ([, , , word]: IpWords): string =>
  `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`;

/** RFC 5952. */
export const ipv6OfWords = (words: IpWords): string => {
  const groups = words.flatMap((word) => [word >>> 16, word & 0xffff]);
  const { start, length } = longestZeroRun(groups);
  if (length < 2) return hexGroups(groups, 0, 8);
  return `${hexGroups(groups, 0, start)}::${hexGroups(groups, start + length, 8)}`;
};

const hexGroups = (groups: readonly number[], from: number, to: number): string => {
  let text = '';
  for (let n = from; n < to; n += 1) text += `${n > from ? ':' : ''}${groups[n]?.toString(16)}`;
  return text;
};

export const wordsToBigInt = (words: IpWords): bigint => {
  let value = 0n;
  for (const word of words) {
    if (value !== 0n) value <<= 32n;
    if (word !== 0) value |= BigInt(word >>> 0);
  }
  return value;
};

/** @param value of 128 bits at most */
export const wordsFromBigInt = (value: bigint): IpWords => {
  const last = Number(BigInt.asIntN(32, value));
  const rest = value >> 32n;
  if (rest === 0n) return [0, 0, 0, last];
  const wordAt = (shift: bigint): number => Number(BigInt.asIntN(32, rest >> shift));
  return [wordAt(64n), wordAt(32n), wordAt(0n), last];
};

/** The first `bits` of 128 bits set. */
export const maskWords = (bits: number): IpWords => {
  const maskAt = (n: number): number => {
    const inWord = bits - 32 * n;
    return inWord <= 0 ? 0 : inWord >= 32 ? -1 : ~(-1 >>> inWord);
  };
  return [maskAt(0), maskAt(1), maskAt(2), maskAt(3)];
};

export const masked = ([a, b, c, d]: IpWords, [w, x, y, z]: IpWords): IpWords => [a & w, b & x, c & y, d & z];

/** What the mask leaves out. */
export const hostPart = ([a, b, c, d]: IpWords, [w, x, y, z]: IpWords): IpWords => [a & ~w, b & ~x, c & ~y, d & ~z];

/** Whether two addresses are equal as far as the mask goes. */
export const sameMasked = ([a, b, c, d]: IpWords, [e, f, g, h]: IpWords, [w, x, y, z]: IpWords): boolean =>
  ((d ^ h) & z) === 0 && ((c ^ g) & y) === 0 && ((b ^ f) & x) === 0 && ((a ^ e) & w) === 0;

const DOT = 0x2e;
const COLON = 0x3a;
const ZERO = 0x30;
const LETTER_A = 0x61;

/** -1: it is no hexadecimal digit. */
const hexValue = (code: number): number => {
  if (code >= ZERO && code < COLON) return code - ZERO;
  const letter = (code | 0x20) - LETTER_A;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
};

/** RFC 5952 section 4.2: the longest run, the first of equals, never a single group. */
const longestZeroRun = (groups: readonly number[]): { start: number; length: number } => {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === 0) continue;
    if (i - start > best.length) best = { start, length: i - start };
    start = i + 1;
  }
  return best;
};
