import { expect, it } from 'vitest';
import { parseReport } from './ginkgo-report.ts';

const spec = (text: string, state: string, message?: string, attempts = 1) => ({
  ContainerHierarchyTexts: ['[sig-network] Services'],
  LeafNodeType: 'It',
  LeafNodeText: text,
  State: state,
  RunTime: 2_500_000_000,
  NumAttempts: attempts,
  ...(message === undefined ? {} : { Failure: { Message: message } }),
});

const suiteNode = (type: string, state: string, message?: string) => ({
  ...spec('', state, message),
  ContainerHierarchyTexts: null,
  LeafNodeType: type,
});

const parse = (specs: unknown, reasons: unknown = null) =>
  parseReport(
    JSON.stringify([{ SpecialSuiteFailureReasons: reasons, RunTime: 60_000_000_000, SpecReports: specs, More: {} }]),
  );

it('has full names, outcomes and times of specs', () => {
  const { specs, seconds, failures } = parse([
    suiteNode('SynchronizedBeforeSuite', 'passed'),
    spec('should serve', 'passed', undefined, 2),
    spec('should fail', 'failed', 'timed out'),
  ]);
  expect(specs).toEqual([
    { name: '[sig-network] Services should serve', outcome: 'passed', message: '', attempts: 2, seconds: 2.5 },
    { name: '[sig-network] Services should fail', outcome: 'failed', message: 'timed out', attempts: 1, seconds: 2.5 },
  ]);
  expect([seconds, failures]).toEqual([60, []]);
});

it.each([
  ['passed', undefined, 'passed'],
  ['failed', 'x', 'failed'],
  ['timedout', 'x', 'interrupted'],
  ['interrupted', 'x', 'interrupted'],
  ['panicked', 'x', 'failed'],
  ['aborted', 'x', 'interrupted'],
  ['skipped', 'needs three zones', 'skipped'],
  ['skipped', undefined, 'not run'],
  ['skipped', '', 'not run'],
  ['pending', undefined, 'not run'],
])('a spec that is %s with message %j is %s', (state, message, outcome) => {
  expect(parse([spec('x', state, message)]).specs[0]?.outcome).toBe(outcome);
});

it('says why a suite failed before or beside its specs', () => {
  const before = suiteNode('SynchronizedBeforeSuite', 'failed', 'nodes are not ready');
  expect(parse([before], ['Interrupted by Timeout']).failures).toEqual([
    'Interrupted by Timeout',
    'SynchronizedBeforeSuite: nodes are not ready',
  ]);
  expect(parse(null).specs).toEqual([]);
});

it.each(['', '{}', '[]', '[{"SpecReports":[]}]'])('%j is no report', (text) =>
  expect(() => parseReport(text)).toThrow(),
);
