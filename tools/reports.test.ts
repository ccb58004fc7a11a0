import { describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import {
  countsOfCheck,
  countsOfLane,
  failuresOfLane,
  formatCounts,
  LANES,
  longestOfLane,
  retriedOfLane,
  seedsOfLane,
  sumOf,
} from './reports.ts';

const lane = (success: boolean, passed: number, failed: number, skipped = 0): string =>
  JSON.stringify({
    success,
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: skipped,
    numTodoTests: 0,
    testResults: [],
  });

describe('a lane', () => {
  it('is counted by tests', () => {
    expect(countsOfLane(lane(true, 5, 0))).toEqual({ passed: 5, failed: 0, skipped: 0 });
    expect(countsOfLane(lane(false, 5, 2, 1))).toEqual({ passed: 5, failed: 2, skipped: 1 });
  });

  it('has failed when a file did not load, though no test failed', () => {
    expect(countsOfLane(lane(false, 5, 0))).toEqual({ passed: 5, failed: 1, skipped: 0 });
  });

  it.each([undefined, '', '{}', 'half a re'])('without a report (%j) has failed', (report) => {
    expect(countsOfLane(report)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });
});

it('a check is counted by steps', () => {
  const steps = [
    { step: 'types', ok: true, seconds: 1 },
    { step: 'lint', ok: false, seconds: 1 },
  ];
  expect(countsOfCheck(JSON.stringify(steps))).toEqual({ passed: 1, failed: 1, skipped: 0 });
  expect(countsOfCheck('[]').failed).toBe(1);
  expect(countsOfCheck(undefined).failed).toBe(1);
});

it('the closing line has all of it, and mentions skipped tests only when there are some', () => {
  const sum = sumOf([
    { passed: 1, failed: 2, skipped: 0 },
    { passed: 10, failed: 0, skipped: 0 },
  ]);
  expect(formatCounts(sum)).toBe('11 passed, 2 failed');
  expect(formatCounts({ ...sum, skipped: 3 })).toBe('11 passed, 2 failed, 3 skipped');
});

it('what failed is named, with the reason', () => {
  const passed = { status: 'passed', fullName: 'is fine', failureMessages: [] };
  const failed = { status: 'failed', fullName: 'adds up', failureMessages: ['Error: 1 is not\n2\n    at somewhere'] };
  const report = {
    ...JSON.parse(lane(false, 1, 1)),
    testResults: [
      { name: '/x/a.test.ts', status: 'failed', message: '', assertionResults: [passed, failed] },
      { name: '/x/b.test.ts', status: 'failed', message: 'cannot be loaded\nmore', assertionResults: [] },
      { name: '/x/c.test.ts', status: 'passed', message: '', assertionResults: [passed] },
    ],
  };
  expect(failuresOfLane(JSON.stringify(report))).toEqual([
    'a.test.ts: adds up: Error: 1 is not | 2',
    'b.test.ts: cannot be loaded | more',
  ]);
  expect(failuresOfLane(undefined)).toEqual([]);
  expect(retriedOfLane(JSON.stringify(report))).toEqual([]);
});

it('what passed at the second try is named, with what the first one said', () => {
  const retried = { status: 'passed', fullName: 'pings', failureMessages: ['Error: no answer'] };
  const results = [{ name: '/x/a.test.ts', status: 'passed', assertionResults: [retried] }];
  const report = JSON.stringify({ ...JSON.parse(lane(true, 1, 0)), testResults: results });
  expect(retriedOfLane(report)).toEqual(['a.test.ts: pings: Error: no answer']);
  expect(failuresOfLane(report)).toEqual([]);
});

it('what failed twice has both reasons, when they differ', () => {
  const failed = { status: 'failed', fullName: 'pings', failureMessages: ['Error: no answer', 'Error: no network'] };
  const results = [{ name: '/x/a.test.ts', status: 'failed', message: '', assertionResults: [failed] }];
  const report = JSON.stringify({ ...JSON.parse(lane(false, 0, 1)), testResults: results });
  expect(failuresOfLane(report)).toEqual(['a.test.ts: pings: Error: no answer || Error: no network']);
});

it('a long reason keeps its beginning and its end', () => {
  const message = `Error: helm failed: ${'warning '.repeat(200)}no such chart`;
  const failed = { status: 'failed', fullName: 'installs', failureMessages: [message] };
  const results = [{ name: '/x/a.test.ts', status: 'failed', message: '', assertionResults: [failed] }];
  const [line = ''] = failuresOfLane(JSON.stringify({ ...JSON.parse(lane(false, 0, 1)), testResults: results }));
  expect(line).toMatch(/^a\.test\.ts: installs: Error: helm failed: warning .* … .* no such chart$/);
  expect(line.length).toBeLessThan(700);
});

it('the longest files are named', () => {
  const file = (name: string, seconds: number) => ({
    ...{ name: `/x/${name}.test.ts`, status: 'passed', startTime: 5_000, endTime: 5_000 + seconds * 1000 },
    assertionResults: [],
  });
  const report = { ...JSON.parse(lane(true, 1, 0)), testResults: [file('a', 1), file('b', 90.4), file('c', 7)] };
  expect(longestOfLane(JSON.stringify(report), 2)).toEqual(['b 90 s', 'c 7 s']);
  expect(longestOfLane(undefined, 2)).toEqual([]);
});

it('what samples were made of is read from the names of tests', () => {
  const named = (fullName: string) => ({ status: 'passed', fullName, failureMessages: [] });
  const names = [
    'frames (UDN_HOSTILE_SEED=1731) a pod',
    'frames (UDN_HOSTILE_SEED=1731) a host',
    'frames (UDN_HOSTILE=all) a pod',
    'adds up',
  ];
  const testResults = [{ name: '/a/hostile.test.ts', status: 'passed', assertionResults: names.map(named) }];
  const report = JSON.stringify({ ...JSON.parse(lane(true, 4, 0)), testResults });
  expect(seedsOfLane(report)).toEqual(['UDN_HOSTILE_SEED=1731', 'UDN_HOSTILE=all']);
  expect(seedsOfLane(undefined)).toEqual([]);
});

it('every lane has a script, and is once in the rows', () => {
  expect(LANES.filter((lane) => !Object.hasOwn(packageJson.scripts, `test:${lane}`))).toEqual([]);
  expect(new Set(LANES).size).toBe(LANES.length);
});
