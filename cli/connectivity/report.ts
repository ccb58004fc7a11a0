/** The table of a run, and its exit status. Pure. */
import type { Output } from '../output/format.ts';
import type { Table } from '../output/table.ts';
import { isAsExpected, type ProbeResult } from './outcome.ts';
import { type Run, TENANTS, TESTS, type TestName } from './run.ts';

export interface Report extends Output {
  readonly exitStatus: 0 | 1 | 2;
}

/** What could not be measured at all: a pod that never ran, with its cause. */
export interface Unmeasured {
  readonly what: string;
  readonly cause: string;
}

export const reportOf = (
  run: Pick<Run, 'id' | 'nodes' | 'subnets'>,
  results: readonly ProbeResult[],
  unmeasured: readonly Unmeasured[],
): Report => {
  const differences = results.filter((one) => one.observed !== 'unknown' && !isAsExpected(one));
  const unknown = [...unmeasured, ...results.filter(({ observed }) => observed === 'unknown').map(unmeasuredOf)];
  return {
    data: {
      run: run.id,
      nodes: run.nodes.map(({ name }) => name),
      network: run.subnets === undefined ? 'default' : 'user-defined',
      probes: results.map(plain),
      unmeasured: unknown,
    },
    tables: [
      ...(results.length === 0 ? [] : [matrixOf(results), summaryOf(results)]),
      ...(differences.length === 0 ? [] : [differencesOf(differences)]),
      ...(unknown.length === 0 ? [] : [unmeasuredTable(unknown)]),
    ],
    exitStatus: differences.length > 0 ? 1 : unknown.length > 0 || results.length === 0 ? 2 : 0,
  };
};

const plain = ({ test, from, to, target, family, expected, observed, detail }: ProbeResult) => ({
  ...{ test, from: from.name, node: from.node.name, to, target },
  ...(family !== undefined && { family }),
  ...{ expected, observed },
  ...(detail !== '' && { detail }),
});

/** Who reaches whom, in all families: `yes`, `no`, and with `!` what is not as expected. */
const matrixOf = (results: readonly ProbeResult[]): Table => {
  const pairs = results.filter(({ test }) => test === 'pods' || test === 'services');
  const sources = Map.groupBy(pairs, ({ from }) => `${from.name} on ${from.node.name}`);
  const columns = [
    ...new Set(TENANTS.flatMap((tenant) => pairs.filter(({ to }) => isOf(to, tenant)).map(({ to }) => to))),
  ];
  columns.sort(byKind);
  return {
    title: 'Reached from pod (rows) to pod or Service (columns); ! differs from what is expected',
    head: ['FROM', ...columns.map((to) => to.replace('pod ', '').replace('Service of ', 'svc/').toUpperCase())],
    rows: [...sources].map(([source, own]) => [
      source,
      ...columns.map((column) => cellOf(own.filter(({ to }) => to === column))),
    ]),
    empty: 'no pairs measured',
  };
};

const isOf = (to: string, tenant: string): boolean => to.startsWith(`pod ${tenant}`) || to === `Service of ${tenant}`;

const byKind = (a: string, b: string): number => {
  const [one, other] = [a, b].map((text) => `${text.startsWith('pod') ? 0 : 1}${text}`);
  return (one ?? '') < (other ?? '') ? -1 : 1;
};

const cellOf = (results: readonly ProbeResult[]): string => {
  if (results.length === 0) return '-';
  const words = new Set(results.map(wordOf));
  if (words.size === 1) return [...words].join('');
  return results.map((one) => `${wordOf(one)} (IPv${one.family})`).join(', ');
};

const wordOf = (result: ProbeResult): string => {
  const word = { reached: 'yes', 'not reached': 'no', unknown: '?' }[result.observed];
  return isAsExpected(result) ? word : `${word}!`;
};

const TITLES: Readonly<Record<TestName, string>> = {
  pods: 'pods',
  services: 'Services',
  dns: 'DNS: kubernetes.default',
  api: 'API server',
  mtu: 'full-size packets between nodes',
};

const summaryOf = (results: readonly ProbeResult[]): Table => ({
  head: ['TEST', 'PROBES', 'AS EXPECTED', 'DIFFERENT', 'NOT MEASURED'],
  rows: TESTS.map((test) => {
    const own = results.filter((one) => one.test === test);
    const unknown = own.filter(({ observed }) => observed === 'unknown').length;
    const expected = own.filter(isAsExpected).length;
    return [TITLES[test], ...[own.length, expected, own.length - expected - unknown, unknown].map(String)];
  }).filter(([, probes]) => probes !== '0'),
});

const differencesOf = (results: readonly ProbeResult[]): Table => ({
  head: ['TEST', 'FROM', 'TO', 'TARGET', 'EXPECTED', 'OBSERVED'],
  rows: TESTS.flatMap((test) => results.filter((one) => one.test === test)).map(
    ({ test, from, to, target, expected, observed, detail }) => [
      ...[test, `${from.name} on ${from.node.name}`, to, target, expected],
      detail === '' ? observed : `${observed}: ${detail}`,
    ],
  ),
});

const unmeasuredOf = ({ test, from, to, detail }: ProbeResult): Unmeasured => ({
  what: `${test}: ${from.name} to ${to}`,
  cause: detail,
});

const unmeasuredTable = (unmeasured: readonly Unmeasured[]): Table => ({
  head: ['NOT MEASURED', 'CAUSE'],
  rows: unmeasured.map(({ what, cause }) => [what, cause]),
});
