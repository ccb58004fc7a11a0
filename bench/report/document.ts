/** The results as the file that other programs read, and as tables for people. Pure. */
import { GOALS } from './goals.ts';
import type { BenchResult } from './result.ts';

export interface BenchDocument {
  /** Of the checkout; with `+` when it was changed since. */
  readonly commit: string;
  /** For people: processor, memory, kernel, load. */
  readonly machine: string;
  /** How often each benchmark was measured, and how long all of that took. */
  readonly runs: number;
  readonly minutes: number;
  readonly results: readonly BenchResult[];
}

/** In the order of `GOALS`. What an earlier document has of other benchmarks is not taken over: each is one run. */
export const benchDocument = (
  facts: Omit<BenchDocument, 'results'>,
  results: readonly BenchResult[],
): BenchDocument => {
  const names = Object.keys(GOALS);
  return { ...facts, results: results.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name)) };
};

const HEADER = ['benchmark', 'value', 'compared with', 'unit', 'ratio', 'goal', '', 'rounds', 'ratios'];

/** With aligned columns, for a terminal. */
export const formatTable = (results: readonly BenchResult[]): string =>
  `${alignedRows(results)
    .map((cells) => cells.join('  ').trimEnd())
    .join('\n')}\n`;

/** For `docs/benchmarks.md`, as the formatter wants it. */
export const formatMarkdown = ({ commit, machine, runs, minutes, results }: BenchDocument): string => {
  const [header = '', ...rows] = alignedRows(results).map((cells) => `| ${cells.join(' | ')} |`);
  const rule = widthsOf(results).map(
    (width, column) => '-'.repeat(width - (isNumber(column) ? 1 : 0)) + (isNumber(column) ? ':' : ''),
  );
  const times = runs === 1 ? 'once' : `${runs} times`;
  return `Commit ${commit}, ${machine}. Each was measured ${times}, in ${minutes} minutes together.\n\n${[header, `| ${rule.join(' | ')} |`, ...rows].join('\n')}\n`;
};

const BEGIN = '<!-- results -->';
const END = '<!-- end of results -->';

/**
 * @param page with the two marks between which results are
 * @returns the page with these results there
 * @throws Error when it lacks the marks
 */
export const withResults = (page: string, results: string): string => {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the page has no place for results: ${BEGIN} and ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${results}\n${page.slice(end)}`;
};

/** Cells of one width per column, the header first. */
const alignedRows = (results: readonly BenchResult[]): string[][] => {
  const widths = widthsOf(results);
  return [HEADER, ...results.map(cells)].map((row) =>
    row.map((cell, column) =>
      isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    ),
  );
};

const widthsOf = (results: readonly BenchResult[]): number[] => {
  const rows = [HEADER, ...results.map(cells)];
  return HEADER.map((_, column) => Math.max(MIN_WIDTH, ...rows.map((row) => row[column]?.length ?? 0)));
};

/** Of the rule below the header of a table in Markdown. */
const MIN_WIDTH = 3;

const isNumber = (column: number): boolean => ![0, 3, 6, 8].includes(column);

const cells = ({ name, value, unit, reference, ratio, rounds, ratios = [] }: BenchResult): string[] => {
  const goal = GOALS[name];
  const result = goal === undefined ? '' : ratio <= goal ? 'met' : 'missed';
  return [
    name,
    short(value),
    short(reference),
    unit,
    short(ratio),
    goal === undefined ? '' : `≤ ${goal}`,
    result,
    String(rounds),
    ratios.map(short).join(' '),
  ];
};

const short = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));
