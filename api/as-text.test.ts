import fc from 'fast-check';
import { expect, it } from 'vitest';
import { asText } from './as-text.ts';

it.each([
  ['layer2', 'layer2'],
  ['', ''],
  [undefined, 'undefined'],
  [null, 'null'],
  [5, '5'],
  [['a'], '["a"]'],
  [{ toString: 1, valueOf: 1 }, '{"toString":1,"valueOf":1}'],
])('%j is %s', (value, text) => {
  expect(asText(value)).toBe(text);
});

it('has a text for all that JSON can say', () => {
  fc.assert(fc.property(fc.json(), (json) => typeof asText(JSON.parse(json)) === 'string'));
});
