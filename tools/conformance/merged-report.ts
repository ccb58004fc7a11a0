/** Several runs of one suite as one report: the first is of all specs, later ones repeat some. Pure. */
import type { SpecResult, SuiteReport } from './ginkgo-report.ts';
import { type KnownFailure, knownFailure } from './known-failures.ts';
import { isChosen, type Suite } from './suites.ts';

export interface MergedResult extends SpecResult {
  /** It failed, was interrupted or not started in the run before. */
  readonly isRepeated: boolean;
}

export interface MergedReport extends SuiteReport {
  readonly specs: readonly MergedResult[];
}

/** Each spec has the result of the last run that ran it; the suite's own failures are those of the last run. */
export const mergeReports = (reports: readonly SuiteReport[]): MergedReport => {
  const specs = new Map<string, MergedResult>();
  for (const [index, report] of reports.entries()) {
    for (const result of report.specs) {
      if (result.outcome === 'not run' && specs.has(result.name)) continue;
      specs.set(result.name, { ...result, isRepeated: index > 0 && result.outcome !== 'not run' });
    }
  }
  return {
    specs: [...specs.values()],
    seconds: reports.reduce((sum, { seconds }) => sum + seconds, 0),
    failures: reports.at(-1)?.failures ?? [],
  };
};

/**
 * Selects the specs that a report leaves open: those that failed and are not listed, were interrupted, or were not started. A suite of
 * network-policy-api plays whole tests, whose names specs begin with.
 * @returns a regular expression of Go and of JavaScript alike; to ginkgo the suite's own name is before that of a spec;
 * undefined when there are none
 */
export const openSpecs = (suite: Suite, report: SuiteReport, known: readonly KnownFailure[]): string | undefined => {
  const open = report.specs.filter((spec) => isOpen(suite, spec, known)).map(({ name }) => name);
  const names = [...new Set(hasTests(suite) ? open.map((name) => `^${testOf(name)}$`) : open.map(escaped))];
  return names.length === 0 ? undefined : `(?:${names.join('|')})`;
};

const hasTests = ({ program: { kind } }: Suite): boolean => kind === 'admin-policies' || kind === 'cluster-policies';
const testOf = (name: string): string => /^\w+/.exec(name)?.[0] ?? '';

const isOpen = (suite: Suite, { name, outcome }: SpecResult, known: readonly KnownFailure[]): boolean => {
  if (outcome === 'failed') return knownFailure(known, suite.name, name) === undefined;
  return outcome === 'interrupted' || (outcome === 'not run' && isChosen(suite, name));
};

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
