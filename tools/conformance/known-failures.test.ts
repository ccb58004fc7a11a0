import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Outcome, SuiteReport } from './ginkgo-report.ts';
import { type KnownFailure, parseKnownFailures, unexpected } from './known-failures.ts';

const REASON = 'a reason that a user accepts';
const report = (outcomes: Readonly<Record<string, Outcome>>, failures: readonly string[] = []): SuiteReport => ({
  specs: Object.entries(outcomes).map(([name, outcome]) => ({
    ...{ name, outcome, attempts: 1, seconds: 1 },
    message: outcome === 'failed' ? '\ntimed out\nmore' : '',
  })),
  seconds: 1,
  failures,
});
const known = (...specs: string[]): KnownFailure[] =>
  specs.map((spec) => ({ spec, suites: ['default'], reason: REASON }));

describe('a run', () => {
  it('is as expected when the specs that fail are those of the list', () => {
    expect(unexpected('default', report({ a: 'passed', b: 'failed', c: 'skipped' }), known('b'))).toEqual([]);
  });

  it.each<[string, SuiteReport, KnownFailure[], string]>([
    ['a spec fails that is not listed', report({ a: 'passed', b: 'failed' }), [], 'default: failed: b\n  timed out'],
    [
      'a listed one passes',
      report({ a: 'passed' }),
      known('a'),
      'default: passed, and is listed as a known failure: a',
    ],
    [
      'a listed one does not exist',
      report({ a: 'passed' }),
      known('b'),
      'default: is listed as a known failure, and no such spec exists: b',
    ],
    ['nothing passed', report({ a: 'skipped' }), [], 'default: no spec passed'],
    ['the suite failed', report({ a: 'passed' }, ['no nodes']), [], 'default: no nodes'],
  ])('fails when %s', (_, results, list, message) => {
    expect(unexpected('default', results, list)).toEqual([message]);
  });

  it('does not excuse a failure that is known elsewhere', () => {
    expect(unexpected('layer3', report({ a: 'passed', b: 'failed' }), known('b'))).toHaveLength(1);
  });

  it('does not expect a spec that skipped itself to fail', () => {
    expect(unexpected('default', report({ a: 'passed', b: 'skipped' }), known('b'))).toEqual([]);
  });
});

describe('the list', () => {
  it('is readable', () => {
    const text = readFileSync(join(import.meta.dirname, 'known-failures.yaml'), 'utf8');
    expect(parseKnownFailures(text)).toEqual(expect.any(Array));
  });

  const entry = (spec: string, suite = 'default', reason = REASON): string =>
    `- { spec: ${spec}, suites: [${suite}], reason: ${reason} }\n`;

  it('has names, suites and reasons', () => {
    expect(parseKnownFailures(entry('a'))).toEqual([{ spec: 'a', suites: ['default'], reason: REASON }]);
    expect(parseKnownFailures('# none')).toEqual([]);
  });

  it.each([
    ['a spec twice', entry('a') + entry('a')],
    ['an unknown suite', entry('a', 'layer4')],
    ['no reason', entry('a', 'default', 'flaky')],
  ])('%s is refused', (_, text) => expect(() => parseKnownFailures(text)).toThrow());
});
