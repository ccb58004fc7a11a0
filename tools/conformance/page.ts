/** What a run puts into docs/conformance.md: numbers, failures with their reasons, and a row per spec. Pure. */
import { markdownTable } from '../markdown.ts';
import type { Outcome, SpecResult, SuiteReport } from './ginkgo-report.ts';
import { firstLine, type KnownFailure, knownFailure } from './known-failures.ts';
import { EXCLUSIONS, exclusionOf, SUITES, type Suite, type SuiteName } from './suites.ts';

export interface Run {
  /** Of Kubernetes. */
  readonly version: string;
  /** Of this repository. */
  readonly commit: string;
  readonly nodes: number;
  readonly datapath: string;
  readonly processors: number;
  readonly known: readonly KnownFailure[];
  /** Of suites that were run. */
  readonly reports: Readonly<Partial<Record<SuiteName, SuiteReport>>>;
}

const BEGIN = '<!-- results: written by `make conformance` -->';
const END = '<!-- end of results -->';

/** @throws Error when the page has no place for them */
export const withResults = (page: string, run: Run): string => {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the page has no place for results: ${BEGIN} and ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${resultsOf(run)}\n\n${page.slice(end)}`;
};

const resultsOf = (run: Run): string =>
  [
    `Kubernetes ${run.version}, commit ${run.commit}, ${run.nodes} nodes with ${run.datapath} datapath, on ${run.processors} processors.`,
    summaryTable(run),
    ...notRun(run),
    '### Failures',
    knownTable(run),
    '### Specs that skipped themselves',
    skippedTable(run),
    '### Specs that are not run',
    excludedTable(run),
    '### All specs',
    specTable(run),
  ].join('\n\n');

const summaryTable = ({ reports }: Run): string =>
  markdownTable(
    [
      'suite',
      'passed',
      'of them at the second attempt',
      'failed',
      'interrupted',
      'not started',
      'skipped by themselves',
      'minutes',
    ],
    SUITES.flatMap((suite) => {
      const report = reports[suite.name];
      if (report === undefined) return [];
      const { specs, seconds } = report;
      const of = (outcome: Outcome): number => count(specs, outcome);
      const counts = [of('passed'), specs.filter(passedLate).length, of('failed'), of('interrupted')];
      const all = [...counts, notStarted(suite, specs), of('skipped')];
      return [[suite.title, ...all.map(String), (seconds / 60).toFixed(0)]];
    }),
  );

const notRun = ({ reports }: Run): string[] => {
  const titles = SUITES.filter(({ name }) => reports[name] === undefined).map(({ title }) => title.toLowerCase());
  return titles.length === 0 ? [] : [`Not run: ${titles.join(', ')}.`];
};

/** Chosen, and the time of the suite was over before. */
const notStarted = ({ focus }: Suite, specs: readonly SpecResult[]): number =>
  specs.filter(
    ({ name, outcome }) => outcome === 'not run' && new RegExp(focus).test(name) && exclusionOf(name) === undefined,
  ).length;

const count = (specs: readonly SpecResult[], outcome: Outcome): number =>
  specs.filter((spec) => spec.outcome === outcome).length;

/** In one line. */
export const countsOf = ({ specs, seconds }: SuiteReport): string =>
  [
    ...(['passed', 'failed', 'interrupted', 'skipped'] as const).map(
      (outcome) => `${count(specs, outcome)} ${outcome}`,
    ),
    `in ${(seconds / 60).toFixed(0)} minutes`,
  ].join(', ');

const specsOf = (reports: Run['reports'], { name }: Suite): readonly SpecResult[] => reports[name]?.specs ?? [];

const passedLate = ({ outcome, attempts }: SpecResult): boolean => outcome === 'passed' && attempts > 1;

const knownTable = ({ reports, known }: Run): string => {
  const failed = SUITES.flatMap((suite) =>
    specsOf(reports, suite)
      .filter(({ outcome }) => outcome === 'failed')
      .map(({ name, message }) => ({
        suite,
        name,
        why: knownFailure(known, suite.name, name)?.reason ?? `not listed: ${firstLine(message)}`,
      })),
  );
  const rows = [...Map.groupBy(failed, ({ name, why }) => JSON.stringify([name, why])).values()].map((same) => [
    shortName(same[0]?.name ?? ''),
    same.map(({ suite }) => suite.title).join(', '),
    cell(same[0]?.why ?? ''),
  ]);
  return rows.length === 0 ? 'None.' : markdownTable(['spec', 'where', 'why'], rows);
};

const skippedTable = ({ reports }: Run): string => {
  const skipped = SUITES.flatMap((suite) => specsOf(reports, suite)).filter(({ outcome }) => outcome === 'skipped');
  const messages = new Map(skipped.map(({ name, message }) => [name, firstLine(message)]));
  const rows = [...messages].sort(byName).map(([name, message]) => [shortName(name), cell(message)]);
  return rows.length === 0 ? 'None.' : markdownTable(['spec', 'what it says'], rows);
};

const excludedTable = ({ reports }: Run): string => {
  const names = (reports.default?.specs ?? []).filter(({ outcome }) => outcome === 'not run').map(({ name }) => name);
  const rows = EXCLUSIONS.map((exclusion) => [
    exclusion.reason,
    String(names.filter((name) => isOfGroup(name) && exclusionOf(name) === exclusion).length),
  ]);
  return markdownTable(['specs that …', 'number'], rows);
};

const GROUP = '[sig-network] ';
const isOfGroup = (name: string): boolean => name.startsWith(GROUP);

const specTable = ({ reports }: Run): string => {
  const names = new Set(
    SUITES.flatMap((suite) => specsOf(reports, suite).filter(({ outcome }) => outcome !== 'not run')).map(
      (spec) => spec.name,
    ),
  );
  const rows = [...names].sort().map((name) => [shortName(name), ...SUITES.map((suite) => word(suite, reports, name))]);
  return markdownTable(['spec', ...SUITES.map(({ title }) => title.toLowerCase())], rows);
};

const word = (suite: Suite, reports: Run['reports'], name: string): string => {
  const spec = specsOf(reports, suite).find((one) => one.name === name);
  if (spec === undefined || spec.outcome === 'not run') return '–';
  if (spec.outcome === 'failed') return '**failed**';
  return passedLate(spec) ? 'passed at the second attempt' : spec.outcome;
};

const shortName = (name: string): string => cell(name.replace(GROUP, ''));

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

/** In a table of Markdown, where `[x]` is no link and `|` no border. */
const cell = (text: string): string => text.replaceAll(/[|[\]<>*_]/g, (found) => `\\${found}`);
