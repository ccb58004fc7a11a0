/** A row of the matrix: what becomes of many cells, and why. */
import { allCells, type Cell, DIMENSIONS } from './dimensions.ts';
import type { Outcome } from './outcomes.ts';

/** Values of dimensions; a dimension that is not named is meant with all of its values. */
export type Where = { readonly [Name in keyof Cell]?: readonly Cell[Name][] };

export interface Row extends Where {
  readonly expect: Outcome;
  /** A message or two: who promises it, or what keeps it from being as promised. */
  readonly why: string;
  /** It is not as Kubernetes or an OKEP promise it; docs/services.md says so too. */
  readonly isNotYet?: boolean;
  /** Issues of ovn-kubernetes about such cells. */
  readonly reports?: readonly number[];
  /** In shared gateway mode it needs VRFs, or OVS’s kernel datapath. In local mode: `kernel.ts`. */
  readonly needsKernel?: boolean;
}

/** What of these rows is also there; a row of which nothing is left is none. */
export const among = (where: Where, rows: readonly Row[]): Row[] =>
  rows.flatMap((row) => {
    const common = NAMES.map((name) => [name, commonOf(where[name], row[name])] as const);
    if (common.some(([, values]) => values?.length === 0)) return [];
    const named = common.filter(([, values]) => values !== undefined);
    return [{ ...row, ...(Object.fromEntries(named) as Where) }];
  });

const NAMES = Object.keys(DIMENSIONS) as (keyof Cell)[];

const commonOf = (
  some: readonly unknown[] | undefined,
  others: readonly unknown[] | undefined,
): readonly unknown[] | undefined =>
  some === undefined ? others : others === undefined ? some : some.filter((value) => others.includes(value));

/** What nobody could ask, what is another cell, or what is not known yet, and why: it is of no row, whatever rows say. */
export interface LeftOut extends Where {
  readonly why: string;
}

const isOf = (row: Where, cell: Cell): boolean =>
  NAMES.every((name) => {
    const values: readonly unknown[] | undefined = row[name];
    return values === undefined || values.includes(cell[name]);
  });

export interface ExpectedCell {
  readonly cell: Cell;
  readonly row: Row;
}

/** Every cell that is not left out, with its row. @throws Error where one has none or several */
export const expand = (rows: readonly Row[], leftOut: readonly LeftOut[]): ExpectedCell[] => {
  const wrong: string[] = [];
  const cells = allCells().filter((cell) => !leftOut.some((one) => isOf(one, cell)));
  const expected = cells.flatMap((cell) => {
    const [row, ...others] = rows.filter((one) => isOf(one, cell));
    if (row !== undefined && others.length === 0) return [{ cell, row }];
    wrong.push(`${row === undefined ? 'no row' : `${others.length + 1} rows`}: ${Object.values(cell).join(', ')}`);
    return [];
  });
  if (wrong.length > 0) throw new Error(`${wrong.length} cells, for example\n${wrong.slice(0, 20).join('\n')}`);
  return expected;
};
