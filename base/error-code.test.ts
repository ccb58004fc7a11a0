import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { codeOf } from './error-code.ts';

const caught = (action: () => unknown): unknown => {
  try {
    return action();
  } catch (error) {
    return error;
  }
};

it.each([
  ['an error of Node', caught(() => readFileSync('/no/such/file')), 'ENOENT'],
  ['an error without one', new Error('EPERM'), undefined],
  ['a number as a code', Object.assign(new Error(), { code: 5 }), undefined],
  ['what is no error', { code: 'ENOENT' }, undefined],
])('%s', (_, error, code) => {
  expect(codeOf(error)).toBe(code);
});
