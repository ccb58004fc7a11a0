/** The table in docs/services.md of who reaches which Service, made from the rows that make the tests. */
import { readFileSync } from 'node:fs';
import {
  DIMENSIONS,
  type EndpointPlacement,
  type EntryPoint,
  type Owner,
  type Policy,
  type Source,
} from '../test/oracles/services/dimensions.ts';
import type { Outcome } from '../test/oracles/services/outcomes.ts';
import type { Row, Where } from '../test/oracles/services/row.ts';
import { LEFT_OUT, ROWS } from '../test/oracles/services/rows.ts';
import { markdownTable } from './markdown.ts';

const PATH = 'docs/services.md';
const START = '<!-- Made by `make gen` from test/oracles/services/rows.ts: -->';
const END = '<!-- End of what is made. -->';

/** Path from the repository's root → content. */
export const serviceMatrixDocs = (): Record<string, string> => ({
  [PATH]: between(readFileSync(PATH, 'utf8'), `\n\n${serviceMatrixTable(ROWS)}\n\n${notes()}\n\n`),
});

/** @throws Error when the marks are not there */
const between = (text: string, made: string): string => {
  const [start, end] = [text.indexOf(START), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`${PATH} has no place for the table of Services`);
  return `${text.slice(0, start + START.length)}${made}${text.slice(end)}`;
};

const HEADER = ['from', 'to', 'endpoints', 'Services of', 'policy', 'answer', 'why'];

export const serviceMatrixTable = (rows: readonly Row[]): string =>
  markdownTable(
    HEADER,
    rows.map((row) => [
      texts(row, 'from', SOURCE_TEXTS),
      texts(row, 'to', ENTRY_POINT_TEXTS),
      texts(row, 'endpoints', PLACEMENT_TEXTS),
      texts(row, 'owner', OWNER_TEXTS),
      texts(row, 'policy', POLICY_TEXTS),
      `${row.isNotYet === true ? '_not yet_: ' : ''}${answerOf(row.expect)}${limitsOf(row)}`,
      `${row.why}${(row.reports ?? []).map((number) => ` ${reportLink(number)}`).join('')}`,
    ]),
  );

/** `any` where a row says nothing of it, or everything. */
const texts = <Name extends keyof Where>(row: Row, name: Name, words: Readonly<Record<string, string>>): string => {
  const values: readonly unknown[] | undefined = row[name];
  if (values === undefined || values.length === DIMENSIONS[name].length) return 'any';
  return [...new Set(values.map((value) => words[String(value)]))].join(', ');
};

const SOURCE_TEXTS: Readonly<Record<Source, string>> = {
  'pod of the network': 'own pod',
  'pod of another tenant': 'tenant’s pod',
  'pod of the default network': 'default pod',
  'process of a node': 'node',
  'host-network pod of the namespace': 'host pod',
  outside: 'outside',
};

const ENTRY_POINT_TEXTS: Readonly<Record<EntryPoint, string>> = {
  ClusterIP: 'ClusterIP',
  'node port of its own node': 'own node’s port',
  'node port of another node': 'other node’s port',
  externalIP: 'external',
  'address of a load balancer': 'external',
};

const PLACEMENT_TEXTS: Readonly<Record<EndpointPlacement, string>> = {
  here: 'here',
  there: 'there',
  both: 'both',
  none: 'none',
  nodes: 'nodes',
};

const OWNER_TEXTS: Readonly<Record<Owner, string>> = {
  'layer 3': 'tenants',
  'layer 2': 'tenants',
  default: 'default',
};

const MODE_TEXTS = { shared: 'shared mode', local: 'local mode' };

const POLICY_TEXTS: Readonly<Record<Policy, string>> = {
  Cluster: 'Cluster',
  'ETP Local': 'ETP Local',
  'ITP Local': 'ITP Local',
};

const answerOf = (outcome: Outcome): string => {
  if (typeof outcome === 'string') return outcome;
  return `${outcome.by === 'all' ? 'all' : 'those here'}, see ${outcome.as.join(' or ')}`;
};

const limitsOf = (row: Row): string => {
  const families = row.family?.map((family) => `IPv${family}`) ?? [];
  const modes = row.mode?.map((mode) => MODE_TEXTS[mode]) ?? [];
  const limits = [...families, ...(row.protocol ?? []), ...modes];
  const isForKernel = row.needsKernel === true && row.mode?.includes('shared') !== false;
  return `${limits.length > 0 ? ` (${limits.join(', ')})` : ''}${isForKernel ? ' ¹' : ''}`;
};

const reportLink = (number: number): string =>
  `[#${number}](https://github.com/ovn-kubernetes/ovn-kubernetes/issues/${number})`;

const notes = (): string =>
  [
    '¹ In shared gateway mode seen on the kernel’s datapath only, as is in local mode what tenants send out, and what comes to them.',
    ...LEFT_OUT.map(({ why, ...where }) => {
      const row: Row = { ...where, why, expect: 'unanswered' };
      const what = [
        texts(row, 'from', SOURCE_TEXTS),
        texts(row, 'to', ENTRY_POINT_TEXTS),
        texts(row, 'owner', OWNER_TEXTS),
        texts(row, 'mode', MODE_TEXTS),
      ];
      return `Not in it: ${what.filter((text) => text !== 'any').join(', ')}. ${why}`;
    }),
  ].join('\n\n');
