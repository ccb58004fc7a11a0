/** Specs that are known to fail, each with a reason that a user accepts, and what a run has to say of them. Pure. */
import { parse } from 'yaml';
import { z } from 'zod';
import type { Outcome, SuiteReport } from './ginkgo-report.ts';
import { SUITE_NAMES, type SuiteName } from './suites.ts';

export interface KnownFailure {
  /** The full name. */
  readonly spec: string;
  readonly suites: readonly SuiteName[];
  readonly reason: string;
}

const schema = z.array(
  z.strictObject({ spec: z.string().min(1), suites: z.array(z.enum(SUITE_NAMES)).min(1), reason: z.string().min(20) }),
);

/** @param text YAML @throws Error when it is no such list, or lists a spec twice */
export const parseKnownFailures = (text: string): KnownFailure[] => {
  const known = schema.parse(parse(text) ?? []);
  const names = known.map(({ spec }) => spec);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Error(`known failures list a spec twice: ${twice}`);
  return known;
};

export const knownFailure = (
  known: readonly KnownFailure[],
  suite: SuiteName,
  spec: string,
): KnownFailure | undefined => known.find((one) => one.spec === spec && one.suites.includes(suite));

/** One message each for what makes a run fail: the list and the results have to be the same. */
export const unexpected = (suite: SuiteName, report: SuiteReport, known: readonly KnownFailure[]): string[] => {
  const listed = known.filter(({ suites }) => suites.includes(suite));
  const results = new Map(report.specs.map((result) => [result.name, result]));
  return [
    ...report.failures.map((failure) => `${suite}: ${failure}`),
    ...(report.specs.some(({ outcome }) => outcome === 'passed') ? [] : [`${suite}: no spec passed`]),
    ...report.specs
      .filter(({ name, outcome }) => isBad(outcome) && knownFailure(known, suite, name) === undefined)
      .map(({ name, outcome, message }) => `${suite}: ${outcome}: ${name}\n  ${firstLine(message)}`),
    ...listed
      .filter(({ spec }) => results.get(spec)?.outcome === 'passed')
      .map(({ spec }) => `${suite}: passed, and is listed as a known failure: ${spec}`),
    ...listed
      .filter(({ spec }) => !results.has(spec))
      .map(({ spec }) => `${suite}: is listed as a known failure, and no such spec exists: ${spec}`),
  ];
};

const isBad = (outcome: Outcome): boolean => outcome === 'failed' || outcome === 'interrupted';

export const firstLine = (message: string): string =>
  message
    .split('\n')
    .find((line) => line.trim() !== '')
    ?.trim() ?? '';
