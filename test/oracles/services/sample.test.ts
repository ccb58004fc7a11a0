import { describe, expect, it } from 'vitest';
import { needsKernel } from './kernel.ts';
import { type ExpectedCell, expand } from './row.ts';
import { LEFT_OUT, ROWS } from './rows.ts';
import { sampleOf } from './sample.ts';

const ALL = expand(ROWS, LEFT_OUT);
const SEEDS = ['1', '2'];

const kinds = (cells: readonly ExpectedCell[], kindOf: (one: ExpectedCell) => readonly unknown[]): string[] =>
  [...new Set(cells.map((one) => kindOf(one).join()))].sort();

describe.each(SEEDS)('the sample of the matrix of Services, by the seed %s', (seed) => {
  const SAMPLE = sampleOf(ALL.filter(needsKernel), seed);

  it('has every source with every entry point, on a network of each kind, in each gateway mode', () => {
    const way = ({ cell: { from, to, owner, mode } }: ExpectedCell) => [from, to, owner, mode];
    expect(kinds(SAMPLE, way)).toEqual(kinds(ALL.filter(needsKernel), way));
  });

  it('has every row, on a network of each kind, in each family, by each protocol', () => {
    for (const name of ['owner', 'family', 'protocol', 'from'] as const) {
      const of = ({ row, cell }: ExpectedCell) => [ROWS.indexOf(row), cell.mode, cell[name]];
      expect(kinds(SAMPLE, of), name).toEqual(kinds(ALL.filter(needsKernel), of));
    }
  });

  it('has what others report from every source, at every place, by TCP and UDP', () => {
    const reported = ({ row }: ExpectedCell) => row.reports !== undefined;
    const of = ({ row, cell: { mode, from, owner, endpoints, protocol } }: ExpectedCell) => [
      ROWS.indexOf(row),
      ...[mode, from, owner, endpoints, protocol],
    ];
    const applicable = ALL.filter((one) => needsKernel(one) && reported(one) && one.cell.protocol !== 'SCTP');
    expect(applicable.length).toBeGreaterThan(0);
    expect(kinds(SAMPLE.filter(reported), of)).toEqual(expect.arrayContaining(kinds(applicable, of)));
  });

  it('is small, and the same again for its seed alone', () => {
    expect(SAMPLE.length).toBeLessThan(ALL.length / 15);
    expect(sampleOf(ALL.filter(needsKernel), seed)).toEqual(SAMPLE);
    expect(sampleOf(ALL.filter(needsKernel), `${seed}0`)).not.toEqual(SAMPLE);
  });
});
