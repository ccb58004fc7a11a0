import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { median, percentile } from './statistics.ts';

describe('percentile', () => {
  it.each([
    [[3], 50, 3],
    [[4, 1, 3, 2], 50, 2],
    [[5, 1, 3], 50, 3],
    [[4, 1, 3, 2], 100, 4],
    [[4, 1, 3, 2], 0, 1],
    [Array.from({ length: 200 }, (_, index) => index + 1), 99, 198],
    [Array.from({ length: 50 }, (_, index) => index + 1), 99, 50],
  ])('of %j at %d is %d', (samples, percent, expected) => expect(percentile(samples, percent)).toBe(expected));

  it('needs samples', () => expect(() => median([])).toThrow(RangeError));

  it('is a sample that so many do not exceed, and no smaller one is', () => {
    const samples = fc.array(fc.double({ noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(samples, fc.integer({ min: 1, max: 100 }), (values, percent) => {
        const found = percentile(values, percent);
        const share = (limit: (value: number) => boolean): number => values.filter(limit).length / values.length;
        expect(values).toContain(found);
        expect(share((value) => value <= found)).toBeGreaterThanOrEqual(percent / 100);
        expect(share((value) => value < found)).toBeLessThan(percent / 100);
      }),
    );
  });

  it('leaves the samples as they were', () => {
    const samples = [3, 1, 2];
    median(samples);
    expect(samples).toEqual([3, 1, 2]);
  });
});
