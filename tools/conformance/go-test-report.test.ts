import { expect, it } from 'vitest';
import { parseReport } from './ginkgo-report.ts';
import { reportOfGoTest } from './go-test-report.ts';

const LOG = `=== RUN   TestConformance
=== RUN   TestConformance/EgressTCP
    apply.go:1: Creating egress-tcp AdminNetworkPolicy
=== RUN   TestConformance/EgressTCP/Should_allow;_in_order
=== RUN   TestConformance/EgressTCP/Should_deny
    helper.go:85: FAILED Command was [/agnhost connect]
    helper.go:86: Expected connection to fail from a/b to 10.0.0.1, but instead it successfully connected.
=== NAME  TestConformance/EgressTCP
    apply.go:2: Deleting egress-tcp AdminNetworkPolicy
=== RUN   TestConformance/EgressSCTP
    harness.go:71: the kernel has no SCTP
--- FAIL: TestConformance (60.50s)
    --- FAIL: TestConformance/EgressTCP (9.00s)
        --- PASS: TestConformance/EgressTCP/Should_allow;_in_order (2.50s)
        --- FAIL: TestConformance/EgressTCP/Should_deny (3.00s)
    --- SKIP: TestConformance/EgressSCTP (0.00s)
FAIL
`;

it('has a spec for each test without subtests', () => {
  const { specs, seconds, failures } = parseReport(reportOfGoTest(LOG));
  expect(specs).toEqual([
    { name: 'EgressTCP Should allow; in order', outcome: 'passed', message: '', attempts: 1, seconds: 2.5 },
    {
      ...{ name: 'EgressTCP Should deny', outcome: 'failed', attempts: 1, seconds: 3 },
      message: 'Expected connection to fail from a/b to 10.0.0.1, but instead it successfully connected.',
    },
    { name: 'EgressSCTP', outcome: 'skipped', message: 'the kernel has no SCTP', attempts: 1, seconds: 0 },
  ]);
  expect([seconds, failures]).toEqual([60.5, []]);
});

it('reads lines of testing with their marks', () => {
  const marked = LOG.replaceAll(/^( *)(===|---)/gm, '\u0016$1$2');
  expect(reportOfGoTest(marked)).toBe(reportOfGoTest(LOG));
});

it('a test that fails beside its subtests is a spec, too', () => {
  const log = LOG.replace('FAIL: TestConformance/EgressTCP/', 'PASS: TestConformance/EgressTCP/');
  const failed = parseReport(reportOfGoTest(log)).specs.filter(({ outcome }) => outcome === 'failed');
  expect(failed.map(({ name }) => name)).toEqual(['EgressTCP']);
});

it('what did not end was interrupted, and so the suite has failed', () => {
  const { specs, failures } = parseReport(reportOfGoTest(LOG.slice(0, LOG.indexOf('--- FAIL'))));
  expect(specs.map(({ outcome }) => outcome)).toEqual(['interrupted', 'interrupted', 'interrupted']);
  expect(failures).toEqual(['TestConformance did not end']);
});

it('says why there are no tests', () => {
  const failed =
    '=== RUN   TestConformance\n    helper.go:9: Error: pods are not ready\n--- FAIL: TestConformance (1.00s)\n';
  expect(parseReport(reportOfGoTest(failed)).failures).toEqual(['TestConformance: Error: pods are not ready']);
  expect(parseReport(reportOfGoTest('no kubeconfig\n')).failures).toEqual(['no kubeconfig']);
});

it('knows the tests that there was no time for', () => {
  const planned = ['EgressTCP', 'EgressUDP'].map((name) => `--- PLANNED: TestConformance/${name}\n`).join('');
  const { specs } = parseReport(reportOfGoTest(`${planned}${LOG}`));
  expect(specs.map(({ name, outcome }) => [name, outcome]).at(-1)).toEqual(['EgressUDP', 'not run']);
  expect(specs).toHaveLength(4);
});
