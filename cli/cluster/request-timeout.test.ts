import { expect, it } from 'vitest';
import { FOR_EVER, parseTimeout } from './request-timeout.ts';

it.each([
  ['30', 30_000],
  ['5s', 5_000],
  ['500ms', 500],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['0.2ms', 1],
  ['0', FOR_EVER],
  ['0s', FOR_EVER],
  ['9999h', FOR_EVER],
])('%s is %d ms', (text, milliseconds) => expect(parseTimeout(text)).toBe(milliseconds));

it.each(['', 's', '-1', '-1s', '5x', '1 s', '1.2.3s', 'forever', '5s5', '1e3'])('"%s" is none', (text) =>
  expect(parseTimeout(text)).toBeUndefined(),
);
