import { expect, it } from 'vitest';
import { lineCount, sizeViolations } from './size-rules.ts';

it('names what is too long, and exceptions that are none', () => {
  const files = [
    { path: 'a/short.ts', lines: 400 },
    { path: 'a/long.ts', lines: 401 },
    { path: 'a/allowed.ts', lines: 900 },
    { path: 'a/models.gen.ts', lines: 9000 },
  ];
  expect(sizeViolations(files, { 'a/allowed.ts': 'one table', 'a/short.ts': 'was long' })).toEqual([
    'a/long.ts has 401 lines, more than 400: divide it by what it is about',
    'a/short.ts is an exception of the rule about lines, and need not be one',
  ]);
});

it('counts a last line without an end, too', () => {
  expect(['', 'a', 'a\n', 'a\nb', '\n\n'].map(lineCount)).toEqual([1, 1, 1, 2, 2]);
});
