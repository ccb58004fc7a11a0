/** Text with quoted strings in it. nft has no escapes: a string ends at the next quote. */

/** The longest comment of rules and elements is 128 bytes with its zero (NFTNL_UDATA_COMMENT_MAXLEN). */
const MAX_COMMENT_BYTES = 127;

/** What a comment is written as: without what nft could not read back, and not longer than it may be. */
export const plainComment = (text: string): string => {
  const plain = text.replaceAll('"', "'").replace(/\p{C}/gu, ' ');
  return new TextDecoder().decode(new TextEncoder().encode(plain).slice(0, MAX_COMMENT_BYTES)).replace(/\uFFFD+$/, '');
};

export const quoted = (text: string): string => `"${text}"`;

/** Splits at a separator that is not inside quotes or braces. */
export const splitOutsideQuotes = (text: string, separator: string): string[] => {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '"') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (character === '{') depth++;
    if (character === '}') depth--;
    if (depth !== 0 || !text.startsWith(separator, index)) continue;
    parts.push(text.slice(start, index));
    start = index + separator.length;
    index = start - 1;
  }
  return [...parts, text.slice(start)];
};

/** Whether a quote that was opened is still open at the end. */
export const endsQuoted = (text: string): boolean => (text.split('"').length - 1) % 2 === 1;
