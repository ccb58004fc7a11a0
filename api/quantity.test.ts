import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readQuantity } from './quantity.ts';

describe('quantities', () => {
  it.each([
    ['10M', 10_000_000n],
    ['1k', 1000n],
    ['1Ki', 1024n],
    ['1.5Gi', 1_610_612_736n],
    ['.5k', 500n],
    ['2.', 2n],
    ['1e3', 1000n],
    ['1E3', 1000n],
    ['1E', 10n ** 18n],
    ['12e-1', 2n],
    ['100m', 1n],
    ['+7', 7n],
    ['-7', -7n],
    ['0', 0n],
  ])('%s is %s', (text, value) => {
    expect(readQuantity(text)).toBe(value);
  });

  it.each(['', 'M', '.', '1K', '1mi', '1 M', '0x10', '1e', '1e400', '--1', '1,5', `${'9'.repeat(31)}`])(
    '"%s" is none',
    (text) => {
      expect(readQuantity(text)).toBeUndefined();
    },
  );

  it('reads every whole number as itself', () => {
    fc.assert(fc.property(fc.bigInt(0n, 2n ** 63n), (value) => readQuantity(String(value)) === value));
  });
});
