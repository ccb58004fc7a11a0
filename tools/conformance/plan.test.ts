import { expect, it } from 'vitest';
import type { SuiteReport } from './ginkgo-report.ts';
import { type Choice, planRuns } from './plan.ts';
import { SUITES, type SuiteName } from './suites.ts';

const choice = (more: Partial<Choice> = {}): Choice => ({
  ...{ suites: SUITES, focus: undefined, again: false, reportOf: () => undefined, known: [] },
  ...more,
});
const titles = (runs: ReturnType<typeof planRuns>): string[][] =>
  runs.map((cluster) => cluster.map(({ suite, kind }) => `${suite.name} ${kind}`));

it('runs all suites, those of tenants and those of policies on clusters of their own', () => {
  expect(titles(planRuns(choice()))).toEqual([
    ['default whole'],
    ['layer3 whole', 'layer2 whole'],
    [
      ...['policies whole', 'admin-policies whole', 'cluster-policies whole', 'cyclonus whole'],
      ...['policies-layer3 whole', 'policies-layer2 whole', 'cyclonus-layer3 whole', 'cyclonus-layer2 whole'],
    ],
  ]);
});

it('runs what a user names', () => {
  const runs = planRuns(choice({ suites: SUITES.slice(0, 1), focus: 'hairpin' }));
  expect(runs.flat()).toMatchObject([{ kind: 'some', focus: 'hairpin' }]);
});

it('runs again what is open, all of what has no report, and starts no cluster for nothing', () => {
  const report = (outcome: 'passed' | 'failed'): SuiteReport => ({
    specs: [{ name: '[sig-network] Services a', outcome, message: '', attempts: 1, seconds: 1 }],
    ...{ seconds: 1, failures: [] },
  });
  const reports: Partial<Record<SuiteName, SuiteReport>> = { default: report('passed'), layer3: report('failed') };
  const suites = SUITES.slice(0, 3);
  const runs = planRuns(choice({ suites, again: true, reportOf: ({ name }) => reports[name] }));
  expect(titles(runs)).toEqual([['layer3 again', 'layer2 whole']]);
});
