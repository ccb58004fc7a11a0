/** The table of docs/policy.md says what the agent's own code makes of each policy. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { reportPodEnd } from '../agent/status/policies/pod-end.ts';
import type { PolicyReportSources } from '../agent/status/policies/sources.ts';
import { noPolicies } from '../agent/status/testing/no-policies.ts';
import { PolicyWorld, type WorldPod, worldPod } from '../agent/testing/policy-world.ts';
import { lets, portsText } from './policy/let-through.ts';

const docs = readFileSync(join(import.meta.dirname, '..', 'docs', 'policy.md'), 'utf8');

const PODS: Readonly<Record<string, WorldPod>> = {
  't1/web': { labels: { app: 'web' }, ips: { 't1/net': ['10.0.0.3'] }, ports: ['http:tcp:8080'] },
  't1/client': { labels: { role: 'client' }, ips: { 't1/net': ['10.0.0.4'] } },
  't1/other': { ips: { 't1/net': ['10.0.0.5'] } },
  't2/client': { labels: { role: 'client' }, ips: { 't2/net': ['10.0.0.6'] }, isLocal: false },
};
const PEERS = ['t1/client', 't1/other', 't2/client', '192.0.2.7', '192.0.2.200'];
const HEAD = ['policy of t1/web', '`client`', '`other`', '`client` of t2', '192.0.2.7', '192.0.2.200'];

/** `spec` of a policy, but for `podSelector: {}`. */
const SPECS = [
  undefined,
  '{}',
  'policyTypes: [Egress]',
  'ingress: [{}]',
  'ingress: [{from: [{podSelector: {}}]}]',
  'ingress: [{from: [{podSelector: {matchLabels: {role: client}}}]}]',
  'ingress: [{from: [{namespaceSelector: {}}]}]',
  'ingress: [{from: [{namespaceSelector: {matchLabels: {team: b}}}]}]',
  'ingress: [{from: [{namespaceSelector: {}, podSelector: {matchLabels: {role: client}}}]}]',
  'ingress: [{from: [{namespaceSelector: {matchLabels: {team: b}}}, {podSelector: {matchLabels: {role: client}}}]}]',
  'ingress: [{from: [{ipBlock: {cidr: 192.0.2.0/24, except: [192.0.2.128/25]}}]}]',
  'ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}]}]',
  'ingress: [{ports: [{port: 80}, {port: 53, protocol: UDP}]}]',
  'ingress: [{ports: [{port: 8000, endPort: 8100}]}]',
  'ingress: [{ports: [{protocol: SCTP}]}]',
  'ingress: [{ports: [{port: http}]}]',
  'ingress: [{ports: [{port: nothing}]}]',
  'ingress: [{ports: [{port: 70000}]}]',
] as const;

const worldWith = (spec: string | undefined): PolicyReportSources => {
  const world = new PolicyWorld();
  world.namespace('t1', { team: 'a' }).network('t1').namespace('t2', { team: 'b' }).network('t2');
  for (const [key, pod] of Object.entries(PODS)) world.pod(key, pod);
  if (spec !== undefined) world.policy('t1/policy', { podSelector: {}, ...parse(spec) });
  const pods = new Map(Object.entries(PODS).map(([key, pod]) => [key, worldPod(key, pod)]));
  return {
    facts: world.facts,
    reconcilers: new Map(),
    ...noPolicies,
    policyLookup: {
      ...noPolicies.policyLookup,
      pod: (key) => pods.get(key),
      policiesOfRule: (rule) => world.index.reader.policiesOfRule(rule),
    },
  };
};

const rowOf = (spec: string | undefined): readonly string[] => {
  const sources = worldWith(spec);
  const cells = PEERS.map((peer) => {
    const found = lets(reportPodEnd(sources, { pod: 't1/web', direction: 'Ingress', peer }), 4);
    return found === undefined ? '?' : portsText(found);
  });
  return [spec === undefined ? 'none' : `\`${spec}\``, ...cells];
};

const tableOf = (rows: readonly (readonly string[])[]): string => {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
};

it('is the table of docs/policy.md', () => {
  const table = tableOf([HEAD, ...SPECS.map(rowOf)]);
  expect(docs).toContain(table);
});
