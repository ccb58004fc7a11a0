/** Which specs a run of `make conformance` starts, and on which clusters. Pure. */
import type { SuiteReport } from './ginkgo-report.ts';
import type { KnownFailure } from './known-failures.ts';
import { openSpecs } from './merged-report.ts';
import type { Suite } from './suites.ts';

/** `whole`: all specs of the suite; `again`: those that the kept runs leave open; `some`: those that a user names. */
export type Kind = 'whole' | 'again' | 'some';

export interface PlannedSuite {
  readonly suite: Suite;
  readonly kind: Kind;
  /** A regular expression of Go and of JavaScript alike. */
  readonly focus: string;
}

export interface Choice {
  readonly suites: readonly Suite[];
  readonly focus: string | undefined;
  readonly again: boolean;
  /** Of the suite's kept runs; undefined when there are none. */
  readonly reportOf: (suite: Suite) => SuiteReport | undefined;
  readonly known: readonly KnownFailure[];
}

/** Suites that need the same cluster share one. What was never run is run as a whole. */
export const planRuns = ({ suites, focus, again, reportOf, known }: Choice): PlannedSuite[][] => {
  const planned = suites.flatMap((suite): PlannedSuite[] => {
    if (focus !== undefined) return [{ suite, kind: 'some', focus }];
    const report = again ? reportOf(suite) : undefined;
    if (report === undefined) return [{ suite, kind: 'whole', focus: suite.focus }];
    const open = openSpecs(suite, report, known);
    return open === undefined ? [] : [{ suite, kind: 'again', focus: open }];
  });
  return [...Map.groupBy(planned, ({ suite: { cluster } }) => JSON.stringify(cluster)).values()];
};
