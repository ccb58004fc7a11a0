import { expect, it } from 'vitest';
import { secondsOf } from './duration.ts';

it.each([
  ['90s', 90],
  ['1m30s', 90],
  ['500ms', 0.5],
  ['1.5h', 5400],
  ['60', 60],
])('%s is %d seconds', (text, seconds) => expect(secondsOf(text)).toBe(seconds));

it.each(['', 's', '-1s', '1 s', '1d', '90s!'])('%j is refused', (text) => {
  expect(() => secondsOf(text)).toThrow(expect.objectContaining({ code: 'ERR_SANDBOX_USAGE' }));
});
