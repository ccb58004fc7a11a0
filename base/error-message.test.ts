import { expect, it } from 'vitest';
import { errorOf, messageOf } from './error-message.ts';

it.each([
  [new TypeError('no such port'), 'no such port'],
  [new Error(''), ''],
  ['thrown as text', 'thrown as text'],
  [undefined, 'undefined'],
  [42, '42'],
  [{ toString: false }, '[object Object]'],
  [Object.create(null), '[object Object]'],
])('says what %o says', (thrown, text) => {
  expect(messageOf(thrown)).toBe(text);
});

it('leaves an Error as it is, and makes one of anything else', () => {
  const error = new TypeError('no such port');
  expect(errorOf(error)).toBe(error);
  expect(errorOf('thrown as text')).toEqual(new Error('thrown as text'));
});
