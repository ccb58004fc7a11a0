import { expect, it } from 'vitest';
import { ownText } from './own-text.ts';

it.each(['', 'red/web-7d9c5b6f4d-00abc', 'caf\u00e9', '\u65e5\u672c', 'a\u0000b', '\ud83d\ude00'])(
  '%j stays what it is',
  (text) => {
    expect(ownText(text)).toBe(text);
  },
);
