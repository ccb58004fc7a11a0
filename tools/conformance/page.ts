/** What a run puts into docs/conformance.md: numbers, failures with their reasons, and a row per spec. Pure. */
import { markdownTable } from '../markdown.ts';
import type { Outcome, SpecResult, SuiteReport } from './ginkgo-report.ts';
import { firstLine, type KnownFailure, knownFailure } from './known-failures.ts';
import { type MergedReport, type MergedResult, mergeReports } from './merged-report.ts';
import type { RunFacts } from './run-facts.ts';
import { exclusionOf, isChosen, SUBJECTS, SUITES, type Subject, type Suite, type SuiteName } from './suites.ts';

/** One run of a suite, or of some of its specs. */
export interface KeptPart {
  readonly facts: RunFacts;
  readonly report: SuiteReport;
}

export interface Run {
  readonly known: readonly KnownFailure[];
  /** Of suites that were run, in the order of the runs. */
  readonly parts: Readonly<Partial<Record<SuiteName, readonly KeptPart[]>>>;
}

type Reports = ReadonlyMap<SuiteName, MergedReport>;

const BEGIN = '<!-- results: written by `make conformance` -->';
const END = '<!-- end of results -->';

/** @throws Error when the page has no place for them */
export const withResults = (page: string, run: Run): string => {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the page has no place for results: ${BEGIN} and ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${resultsOf(run)}\n\n${page.slice(end)}`;
};

const resultsOf = ({ known, parts }: Run): string => {
  const reports: Reports = new Map(
    SUITES.flatMap(({ name }) => {
      const ran = parts[name]?.map(({ report }) => report) ?? [];
      return ran.length === 0 ? [] : [[name, mergeReports(ran)] as const];
    }),
  );
  return [
    summaryTable(reports),
    ...notRun(reports),
    '### Runs',
    runsTable(parts),
    '### Failures',
    knownTable(reports, known),
    '### Specs that skipped themselves',
    skippedTable(reports),
    '### Specs that are not run',
    'Of the suite of the default network.',
    excludedTable(reports),
    ...SUBJECTS.flatMap((subject) => [`### All specs: ${subject}`, specTable(reports, subject)]),
  ].join('\n\n');
};

const summaryTable = (reports: Reports): string =>
  markdownTable(
    ['suite', 'passed', 'at the second attempt', 'in a later run', ...COUNTED.map(([title]) => title), 'not started'],
    SUITES.flatMap((suite) => {
      const specs = reports.get(suite.name)?.specs;
      if (specs === undefined) return [];
      const passed = specs.filter(({ outcome }) => outcome === 'passed');
      const late = [passed.filter(passedLate), passed.filter(({ isRepeated }) => isRepeated)];
      const others = COUNTED.map(([, outcome]) => count(specs, outcome));
      const notStarted = specs.filter(({ name, outcome }) => outcome === 'not run' && isChosen(suite, name));
      return [
        [suite.title, passed.length, ...late.map(({ length }) => length), ...others, notStarted.length].map(String),
      ];
    }),
  );

const COUNTED: readonly (readonly [string, Outcome])[] = [
  ['failed', 'failed'],
  ['interrupted', 'interrupted'],
  ['skipped by themselves', 'skipped'],
];

const notRun = (reports: Reports): string[] => {
  const titles = SUITES.filter(({ name }) => !reports.has(name)).map(({ title }) => lowerFirst(title));
  return titles.length === 0 ? [] : [`Not run: ${titles.join(', ')}.`];
};

const runsTable = (parts: Run['parts']): string =>
  markdownTable(
    ['suite', 'began (UTC)', 'Kubernetes', 'commit', 'nodes', 'kernel', 'datapath', 'processors', 'specs', 'minutes'],
    SUITES.flatMap(({ name, title }) =>
      (parts[name] ?? []).map(({ facts, report: { specs, seconds } }) => [
        title,
        ...[facts.started.slice(0, 16).replace('T', ' '), facts.version, facts.commit, String(facts.nodes)],
        ...[facts.kernel, facts.datapath, String(facts.processors)],
        ...[String(specs.length - count(specs, 'not run')), (seconds / 60).toFixed(0)],
      ]),
    ),
  );

const lowerFirst = (title: string): string => `${title.slice(0, 1).toLowerCase()}${title.slice(1)}`;

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

const specsOf = (reports: Reports, { name }: Suite): readonly MergedResult[] => reports.get(name)?.specs ?? [];

const passedLate = ({ outcome, attempts }: SpecResult): boolean => outcome === 'passed' && attempts > 1;

const knownTable = (reports: Reports, known: readonly KnownFailure[]): string => {
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

const skippedTable = (reports: Reports): string => {
  const skipped = SUITES.flatMap((suite) => specsOf(reports, suite)).filter(({ outcome }) => outcome === 'skipped');
  const messages = new Map(skipped.map(({ name, message }) => [name, firstLine(message)]));
  const rows = [...messages].sort(byName).map(([name, message]) => [shortName(name), cell(message)]);
  return rows.length === 0 ? 'None.' : markdownTable(['spec', 'what it says'], rows);
};

/** Of the suite that is about all specs of the group. */
const excludedTable = (reports: Reports): string => {
  const rows = SUITES.filter(({ name }) => name === 'default').flatMap((suite) => {
    const left = specsOf(reports, suite).filter(({ name, outcome }) => outcome === 'not run' && isOfGroup(name));
    return suite.exclusions.map((exclusion) => [
      exclusion.reason,
      String(left.filter(({ name }) => exclusionOf(suite, name) === exclusion).length),
    ]);
  });
  return markdownTable(['specs that …', 'number'], rows);
};

const GROUP = '[sig-network] ';
const isOfGroup = (name: string): boolean => name.startsWith(GROUP);

const specTable = (reports: Reports, subject: Subject): string => {
  const suites = SUITES.filter((suite) => suite.subject === subject);
  const ran = suites.flatMap((suite) => specsOf(reports, suite).filter(({ outcome }) => outcome !== 'not run'));
  const rows = [...new Set(ran.map(({ name }) => name))]
    .sort()
    .map((name) => [shortName(name), ...suites.map((suite) => word(suite, reports, name))]);
  return rows.length === 0
    ? 'None was run.'
    : markdownTable(['spec', ...suites.map(({ title }) => lowerFirst(title))], rows);
};

const word = (suite: Suite, reports: Reports, name: string): string => {
  const spec = specsOf(reports, suite).find((one) => one.name === name);
  if (spec === undefined || spec.outcome === 'not run') return '–';
  if (spec.outcome === 'failed') return '**failed**';
  const late = [...(passedLate(spec) ? ['at the second attempt'] : []), ...(spec.isRepeated ? ['in a later run'] : [])];
  return spec.outcome === 'passed' ? ['passed', late.join(', ')].join(' ').trim() : spec.outcome;
};

const shortName = (name: string): string => cell(name.replace(GROUP, ''));

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

/** In a table of Markdown, where `[x]` is no link and `|` no border. */
const cell = (text: string): string => text.replaceAll(/[|[\]<>*_]/g, (found) => `\\${found}`);
