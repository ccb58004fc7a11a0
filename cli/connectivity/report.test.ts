import { expect, it } from 'vitest';
import { parseIp } from '../../net/ip.ts';
import { formatOutput } from '../output/format.ts';
import type { ProbeResult } from './outcome.ts';
import { planProbes } from './probes.ts';
import { reportOf } from './report.ts';
import { podPlaces, TESTS } from './run.ts';
import { defaultSubnets } from './subnets.ts';

const nodes = [
  { name: 'n1', hostname: 'n1' },
  { name: 'n2', hostname: 'n2' },
] as const;
const run = { id: 'x', nodes, subnets: defaultSubnets([4]) };
const ip = (text: string) => [parseIp(text)];

/** All as expected. */
const results = planProbes(run, new Set(TESTS), {
  pods: podPlaces(run)
    .filter(({ name }) => !name.endsWith('2'))
    .map((place) => ({ ...place, mtu: 1400, addresses: ip(`10.203.0.${place.name.slice(1)}`) })),
  services: { a: ip('10.96.0.10'), b: ip('10.96.0.11') },
  api: ip('10.96.0.1'),
}).map(
  (probe): ProbeResult => ({
    ...probe,
    observed: probe.expected,
    detail: probe.expected === 'reached' ? '' : 'timed out',
  }),
);

const changed = (test: string, from: string, to: string, outcome: Pick<ProbeResult, 'observed' | 'detail'>) =>
  results.map((one) => (one.test === test && one.from.name === from && one.to === to ? { ...one, ...outcome } : one));

it('all as expected', () => {
  const report = reportOf(run, results, []);
  expect(report.exitStatus).toBe(0);
  expect(formatOutput(report, 'table').split('\n')).toEqual([
    'Reached from pod (rows) to pod or Service (columns); ! differs from what is expected',
    'FROM      A1   A3   B1   B3   SVC/A  SVC/B',
    'a1 on n1  -    yes  no   no   yes    no',
    'a3 on n2  yes  -    no   no   yes    no',
    'b1 on n1  no   no   -    yes  no     yes',
    'b3 on n2  no   no   yes  -    no     yes',
    '',
    'TEST                             PROBES  AS EXPECTED  DIFFERENT  NOT MEASURED',
    'pods                             12      12           0          0',
    'Services                         8       8            0          0',
    'DNS: kubernetes.default          4       4            0          0',
    'API server                       4       4            0          0',
    'full-size packets between nodes  4       4            0          0',
    '',
  ]);
});

it('a pair that is cut, and one that should be: both are named', () => {
  const cut = changed('pods', 'a1', 'pod a3', { observed: 'not reached', detail: 'timed out' });
  const leak = changed('services', 'b1', 'Service of a', { observed: 'reached', detail: '' });
  const both = results.map((one, index) => (one === cut[index] ? (leak[index] ?? one) : (cut[index] ?? one)));
  const report = reportOf(run, both, []);
  expect(report.exitStatus).toBe(1);
  const text = formatOutput(report, 'table');
  expect(text).toContain('a1 on n1  -    no!  no   no   yes    no\n');
  expect(text.split('\n').slice(-4)).toEqual([
    'TEST      FROM      TO            TARGET            EXPECTED     OBSERVED',
    'pods      a1 on n1  pod a3        10.203.0.3:20080  reached      not reached: timed out',
    'services  b1 on n1  Service of a  10.96.0.10:80     not reached  reached',
    '',
  ]);
});

it('what could not be measured, with its cause; differences come first', () => {
  const unmeasured = [{ what: 'pod b3 on n2', cause: 'pod is not ready: ImagePullBackOff' }];
  expect(reportOf(run, results, unmeasured).exitStatus).toBe(2);
  const lost = changed('dns', 'a1', 'kubernetes.default', { observed: 'unknown', detail: 'exec: connection closed' });
  const report = reportOf(run, lost, []);
  expect(report.exitStatus).toBe(2);
  expect(formatOutput(report, 'table')).toContain('dns: a1 to kubernetes.default  exec: connection closed\n');
  const cut = changed('pods', 'a1', 'pod a3', { observed: 'not reached', detail: 'refused' });
  expect(reportOf(run, cut, unmeasured).exitStatus).toBe(1);
  expect(reportOf(run, [], unmeasured).exitStatus).toBe(2);
});
