import { describe, expect, it } from 'vitest';
import { type DomainName, parseDomainName } from '../../net/domain-name.ts';
import { parseIp } from '../../net/ip.ts';
import { createAgentMetrics } from '../metrics/metrics.ts';
import { observeDomains, problemsOfDomains } from './observe.ts';
import type { DomainState } from './types.ts';

const namesWith = (states: Readonly<Record<string, DomainState>>) => ({
  names: () => Object.keys(states).map(parseDomainName).values() as unknown as Generator<DomainName>,
  state: (name: DomainName) => states[name.slice(0, -1)],
});

const NAMES = namesWith({
  'a.example': { kind: 'resolved', addresses: [parseIp('192.0.2.1'), parseIp('2001:db8::1')], answeredAgo: 5_000 },
  'b.example': { kind: 'failed', addresses: [parseIp('192.0.2.1')], answeredAgo: 90_000, problem: 'A: SERVFAIL' },
  'c.example': { kind: 'unresolved', addresses: [] },
});

describe('names that are resolved', () => {
  it('are counted, with the oldest answer', async () => {
    const metrics = createAgentMetrics();
    observeDomains(metrics, NAMES);
    metrics.domainQuery('failed');
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('udn_agent_domain'));
    expect(lines).toEqual([
      'udn_agent_domain_queries_total{result="failed"} 1',
      'udn_agent_domain_names{state="unresolved"} 1',
      'udn_agent_domain_names{state="resolved"} 1',
      'udn_agent_domain_names{state="failed"} 1',
      'udn_agent_domain_addresses 3',
      'udn_agent_domain_age_seconds 90',
    ]);
  });

  it('are a problem of the node where there is no answer, a few by name', () => {
    expect(problemsOfDomains('n1', namesWith({}))).toEqual([]);
    const [problem] = problemsOfDomains('n1', NAMES);
    expect(problem).toEqual({
      ...{ object: 'Node/n1', severity: 'warning', cause: 'names-unresolved' },
      message:
        'domain names of policies are not resolved: b.example (A: SERVFAIL); their rules apply to what they stood for until an hour after the last answer, or 10 minutes after the start of an agent that has had none, and to nothing of them after that',
    });
    const many = Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e'].map((label) => [
        `${label}.example`,
        { kind: 'failed', addresses: [], problem: 'no' } as const,
      ]),
    );
    expect(problemsOfDomains('n1', namesWith(many))[0]?.message).toContain('c.example (no) and 2 more;');
  });
});
