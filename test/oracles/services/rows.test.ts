import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allCells } from './dimensions.ts';
import { among, expand, type Row } from './row.ts';
import { LEFT_OUT, ROWS } from './rows.ts';

describe('the matrix of Services', () => {
  it('has exactly one row for every combination that is not left out', () => {
    const expected = expand(ROWS, LEFT_OUT);
    // Nearly all, in both gateway modes.
    expect(expected.length).toBeGreaterThan(0.8 * allCells().length);
  });

  it('has no row of nothing', () => {
    const used = new Set(expand(ROWS, LEFT_OUT).map(({ row }) => row));
    expect(ROWS.filter((row) => !used.has(row))).toEqual([]);
  });

  it('knows no limit that docs/services.md does not name', () => {
    const limits = words(readFileSync('docs/services.md', 'utf8').split('## What does not work yet')[1] ?? '');
    const limitsReported = [...new Set(ROWS.filter(({ isNotYet }) => isNotYet).map(({ why }) => why))];
    expect(limitsReported.length).toBeGreaterThan(0);
    for (const why of limitsReported) expect(limits).toContain(words(why));
  });

  it('says which cell has no row, and which has two', () => {
    const everything: Row = { expect: 'silent', why: 'for the test' };
    expect(expand([everything], [])).toHaveLength(allCells().length);
    expect(() => expand([{ ...everything, family: [4] }], [])).toThrow(/no row: pod of the network, .*, 6, TCP/);
    expect(() => expand([everything, { ...everything, protocol: ['SCTP'] }], [])).toThrow(/2 rows: .* SCTP/);
  });

  it('takes what is left out for no cell', () => {
    const leftOut = [{ family: [6] as const, why: 'for the test' }];
    expect(expand([{ family: [4], expect: 'silent', why: 'for the test' }], leftOut)).toHaveLength(
      allCells().length / 2,
    );
  });

  it('narrows rows down to what they have in common with others', () => {
    const row: Row = { from: ['outside', 'process of a node'], expect: 'silent', why: 'for the test' };
    expect(among({ from: ['outside'], family: [4] }, [row])).toEqual([{ ...row, from: ['outside'], family: [4] }]);
    expect(among({ from: ['pod of the network'] }, [row])).toEqual([]);
  });
});

const words = (text: string): string => text.replaceAll('’', "'").replaceAll(/\s+/g, ' ');
