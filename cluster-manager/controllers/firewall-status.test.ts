import { expect, it } from 'vitest';
import { NO_IDS } from '../../net/id-ranges.ts';
import type { ReportedFirewalls, ReportFacts } from '../facts/report-facts.ts';
import { changedVersions } from './firewall-controller.ts';
import { type FirewallNode, firewallStatus, isNews } from './firewall-status.ts';

const V = 'abcdefgh';
const report = (node: string, firewalls?: ReportedFirewalls): ReportFacts => ({
  ...{ node, hasAll: true, observed: '', ready: NO_IDS, pending: NO_IDS, failed: NO_IDS, leaving: NO_IDS },
  ...{ retirement: 0, failures: new Map(), renewal: undefined, firewalls },
});
const applied = (node: string, text = V): FirewallNode => ({
  ...{ node, isStale: false },
  report: report(node, { applied: text, problems: new Map() }),
});
const failed = (node: string, message: string): FirewallNode => ({
  ...{ node, isStale: false },
  report: report(node, { applied: '', problems: new Map([[V, message]]) }),
});

it('is applied when each node with its pods has this version, among others', () => {
  expect(firewallStatus([], V, [applied('n2'), applied('n1', `AAAAAAAA,${V},zzzzzzzz`)])).toEqual({
    status: 'EgressFirewall Rules applied',
    messages: ['n1: EgressFirewall Rules applied', 'n2: EgressFirewall Rules applied'],
  });
  expect(firewallStatus([], V, [])).toEqual({ status: 'EgressFirewall Rules applied' });
});

it.each([
  ['has another version', applied('n1', 'bcdefghi'), 'EgressFirewall Rules not applied yet'],
  ['has parts of two others', applied('n1', 'xxxxabcd,efghxxxx'), 'EgressFirewall Rules not applied yet'],
  ['has no report', { node: 'n1', report: undefined, isStale: false }, 'udn-agent has not reported'],
  ['reports no more', { ...applied('n1'), isStale: true }, 'udn-agent has stopped reporting'],
  [
    'has an older agent',
    { ...applied('n1'), report: report('n1') },
    'udn-agent is older and does not report firewalls',
  ],
] as const)('names a node that %s', (_, node, message) => {
  expect(firewallStatus([], V, [node, applied('n2')])).toEqual({
    status: 'EgressFirewall Rules not applied yet: 1 of 2 nodes have not reported them: n1',
    messages: [`n1: ${message}`, 'n2: EgressFirewall Rules applied'],
  });
});

it('says first what nobody can follow, then what a node cannot', () => {
  const nodes = [applied('n1'), failed('n2', 'no room'), applied('n3', '')];
  expect(firewallStatus([], V, nodes)).toEqual({
    status: 'EgressFirewall Rules not correctly applied: 1 of 3 nodes cannot apply them: n2',
    messages: [
      'n2: EgressFirewall Rules not correctly applied: no room',
      'n3: EgressFirewall Rules not applied yet',
      'n1: EgressFirewall Rules applied',
    ],
  });
  expect(firewallStatus(['spec: no', 'b'], V, nodes).status).toBe(
    'EgressFirewall Rules not correctly applied: spec: no and 1 more',
  );
});

it('is of one size on many nodes, and the same whatever pods come and go', () => {
  const name = (index: number): string => `n${String(index).padStart(3, '0')}`;
  const many = Array.from({ length: 500 }, (_, index) => applied(name(index)));
  expect(firewallStatus([], V, many)).toEqual({ status: 'EgressFirewall Rules applied' });
  const broken = many.map(({ node }, index) => (index % 2 === 0 ? failed(node, 'x'.repeat(256)) : applied(node, '')));
  const { status = '', messages = [] } = firewallStatus([], V, broken);
  expect(status).toMatch(/: 250 of 500 nodes cannot apply them: n000, n002, n004 and 247 more$/);
  expect(messages).toHaveLength(20);
  expect(JSON.stringify({ status, messages }).length).toBeLessThan(6_000);
});

it('is written at once where users wait for it, and a node that flaps is not', () => {
  const of = (status: string) => ({ status });
  const [good, bad] = [of('EgressFirewall Rules applied'), of('EgressFirewall Rules not correctly applied: x')];
  expect([isNews(good, bad), isNews(good, {}), isNews(bad, {}), isNews(bad, good)]).toEqual([true, true, true, false]);
  expect(isNews(of('EgressFirewall Rules not applied yet: n1'), good)).toBe(false);
});

it('a report touches the firewalls that stand another way', () => {
  const facts = (text: string, ...problems: [string, string][]) => ({
    firewalls: { applied: text, problems: new Map(problems) },
  });
  const changed = (...reports: Parameters<typeof changedVersions>) => [...changedVersions(...reports)].sort();
  expect(changed(facts('a,b'), facts('a,b'))).toEqual([]);
  expect(changed(facts('a,b'), facts('b,c'))).toEqual(['a', 'c']);
  expect(changed(facts('a', ['x', '1']), facts('a', ['x', '2']))).toEqual(['x']);
  expect(changed(facts('a', ['x', '1']), facts('a,x'))).toEqual(['x']);
  expect(changed(undefined, facts(''))).toEqual([]);
  expect(changed(facts('a'), undefined)).toEqual(['a']);
  expect(changed({ firewalls: undefined }, { firewalls: undefined })).toEqual([]);
});
