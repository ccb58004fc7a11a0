import { expect, it } from 'vitest';
import { messageOf } from './error-message.ts';

it.each([
  [new TypeError('no such port'), 'no such port'],
  [new Error(''), ''],
  ['thrown as text', 'thrown as text'],
  [undefined, 'undefined'],
  [42, '42'],
])('says what %o says', (thrown, text) => {
  expect(messageOf(thrown)).toBe(text);
});
