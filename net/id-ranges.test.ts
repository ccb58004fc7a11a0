import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { differingIds, formatRanges, hasId, idsIn, NO_IDS, parseRanges, rangesOf } from './id-ranges.ts';

const ids = fc.uniqueArray(fc.integer({ min: 0, max: 4095 }), { maxLength: 200 });
const sorted = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b);

describe('ranges of ids', () => {
  it.each([
    ['', []],
    ['0', [0]],
    ['0-57,59', [59, ...Array.from({ length: 58 }, (_, id) => id)]],
    ['1,3,5-6', [6, 5, 3, 1, 1]],
  ])('%j', (text, members) => {
    expect(formatRanges(rangesOf(members))).toBe(text);
    expect(parseRanges(text, 4095)).toEqual(rangesOf(members));
  });

  it('hold what they are made of, and nothing else', () => {
    fc.assert(
      fc.property(ids, fc.integer({ min: 0, max: 4095 }), (members, other) => {
        const ranges = rangesOf(members);
        expect(parseRanges(formatRanges(ranges), 4095)).toEqual(ranges);
        expect([...idsIn(ranges)]).toEqual(sorted(members));
        expect(hasId(ranges, other)).toBe(members.includes(other));
      }),
    );
  });

  it('differ in what one of two has', () => {
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        const expected = new Set(a).symmetricDifference(new Set(b));
        expect(differingIds(rangesOf(a), rangesOf(b))).toEqual(rangesOf(expected));
      }),
    );
    expect(differingIds(NO_IDS, NO_IDS)).toEqual([]);
  });

  it.each(['x', '1-', '-1', '2-1', '1-1', '3,2', '1-5,5', '4096', '0-4096', '1,,2', ' 1', '01', '1-2-3'])(
    'refuse %j',
    (text) => expect(() => parseRanges(text, 4095)).toThrow('is no ascending range of ids up to 4095'),
  );
});
