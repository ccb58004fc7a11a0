import { expect, it } from 'vitest';
import { headOf, lineCount, sizeViolations } from './size-rules.ts';

it('names what is too long, what does not say why it is long, and what says so for nothing', () => {
  const reason = '/** All of it. Over 300 lines: one table of cases, read from top to bottom. */';
  expect(
    sizeViolations([
      { path: 'agent/short.ts', lines: 300, head: '' },
      { path: 'agent/long.ts', lines: 301, head: '/** All of it. Over 300 lines: so. */' },
      { path: 'agent/allowed.ts', lines: 400, head: reason },
      { path: 'agent/longest.ts', lines: 401, head: reason },
      { path: 'agent/was-long.ts', lines: 299, head: reason },
      { path: 'agent/models.gen.ts', lines: 9000, head: '' },
    ]),
  ).toEqual([
    'agent/long.ts has 301 lines: divide it, or say why not in its head ("Over 300 lines: …")',
    'agent/longest.ts has 401 lines, more than 400: divide it by what it is about',
    'agent/was-long.ts says why it is long, and need not',
  ]);
});

it('takes the comments before the first statement for the head', () => {
  expect(headOf('/**\n * a\n */\n// b\nimport c;\n// d\n')).toBe('/**\n * a\n */\n// b');
  expect(headOf('#!/bin/sh\n# a\nset -e\n# b\n')).toBe('#!/bin/sh\n# a');
  expect(headOf("import a from 'b'; /* c */")).toBe('');
});

it('counts a last line without an end, too', () => {
  expect(['', 'a', 'a\n', 'a\nb', '\n\n'].map(lineCount)).toEqual([1, 1, 1, 2, 2]);
});
