import { invalid, syntaxError } from '../errors.ts';

/**
 * The parts between separators that are not within brackets: `ct(a,b),c` → `ct(a,b)`, `c`. An empty text has no parts.
 * @throws OpenflowError ERR_OPENFLOW_SYNTAX when brackets do not match
 */
export const splitTopLevel = (text: string, separator: ',' | ' ' = ','): string[] => {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '(' || character === '[' || character === '{') depth++;
    else if (character === ')' || character === ']' || character === '}') depth--;
    else if (character === separator && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
    if (depth < 0) throw syntaxError('a list with matching brackets', text);
  }
  if (depth !== 0) throw syntaxError('a list with matching brackets', text);
  parts.push(text.slice(start));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
};

/** `name(inner)` → both; undefined for anything else. */
export const callOf = (text: string): { readonly name: string; readonly inner: string } | undefined => {
  const open = text.indexOf('(');
  if (open <= 0 || !text.endsWith(')')) return undefined;
  return { name: text.slice(0, open), inner: text.slice(open + 1, -1) };
};

/** Text before and after the first separator; the second is undefined without one. */
export const cut = (text: string, separator: string): readonly [string, string | undefined] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
};

/** What stands before `->` and after it. @throws OpenflowError ERR_OPENFLOW_INVALID without one */
export const arrow = (text: string): readonly [string, string] => {
  const [before, after] = cut(text, '->');
  if (after === undefined) throw invalid(`${JSON.stringify(text)} has no ->`);
  return [before, after];
};
