import { describe, expect, it } from 'vitest';
import type { Outcome, SuiteReport } from './ginkgo-report.ts';
import { mergeReports, openSpecs } from './merged-report.ts';
import { SUITES } from './suites.ts';

const report = (outcomes: Readonly<Record<string, Outcome>>, failures: readonly string[] = []): SuiteReport => ({
  specs: Object.entries(outcomes).map(([name, outcome]) => ({
    ...{ name, outcome, message: '', attempts: 1, seconds: 1 },
  })),
  seconds: 60,
  failures,
});
const name = (text: string): string => `[sig-network] Services ${text}`;
const [suite = expect.fail('there are no suites')] = SUITES;

describe('mergeReports', () => {
  it('takes each result from the last run that ran the spec', () => {
    const first = report({ a: 'passed', b: 'failed', c: 'not run', d: 'not run' }, ['its time was over']);
    const second = report({ a: 'not run', b: 'passed', c: 'failed', d: 'not run' });
    const { specs, seconds, failures } = mergeReports([first, second]);
    expect(specs.map((spec) => [spec.name, spec.outcome, spec.isRepeated])).toEqual([
      ['a', 'passed', false],
      ['b', 'passed', true],
      ['c', 'failed', true],
      ['d', 'not run', false],
    ]);
    expect({ seconds, failures }).toEqual({ seconds: 120, failures: [] });
  });

  it('of one run is that run', () => {
    const only = report({ a: 'failed', b: 'not run' }, ['no nodes']);
    expect(mergeReports([only])).toMatchObject(only);
    expect(mergeReports([]).specs).toEqual([]);
  });
});

describe('openSpecs', () => {
  const open = (outcomes: Readonly<Record<string, Outcome>>, listed: readonly string[] = []) =>
    openSpecs(
      suite,
      report(outcomes),
      listed.map((spec) => ({ spec, suites: [suite.name], reason: 'a reason that a user accepts' })),
    );

  it('selects what failed, was interrupted or was not started', () => {
    const names = [name('a (b) [c]'), name('d.e'), name('f'), name('g')] as const;
    const [failed, interrupted, late, passed] = names;
    const pattern = open({ [failed]: 'failed', [interrupted]: 'interrupted', [late]: 'not run', [passed]: 'passed' });
    const matches = (text: string): boolean => new RegExp(pattern ?? '(?!)').test(text);
    expect(names.map(matches)).toEqual([true, true, true, false]);
    expect(matches(name('dXe'))).toBe(false);
    // As ginkgo has it.
    expect(matches(`Kubernetes e2e suite ${late}`)).toBe(true);
  });

  it('selects nothing when nothing is open: a listed failure is none, nor a spec that no run chooses', () => {
    const other = '[sig-network] Netpol NetworkPolicy should deny';
    expect(open({ [name('a')]: 'failed', [name('b')]: 'skipped', [other]: 'not run' }, [name('a')])).toBeUndefined();
  });

  it('of a suite that plays whole tests, selects those of open specs', () => {
    const admin = SUITES.find(({ name: one }) => one === 'admin-policies') ?? expect.fail('no such suite');
    const results = report({
      'EgressTCP Should a': 'failed',
      'EgressTCP Should b': 'failed',
      'EgressUDP Should c': 'passed',
    });
    expect(openSpecs(admin, results, [])).toBe('(?:^EgressTCP$)');
  });
});
