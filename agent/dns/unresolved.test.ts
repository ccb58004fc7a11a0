import { expect, it } from 'vitest';
import type { DomainName } from '../../net/domain-name.ts';
import { FactStore } from '../model/fact-store.ts';
import type { AdminRuleFact } from '../model/policies/facts.ts';
import type { DomainState } from './types.ts';
import { firewallsAwaitingNames, problemsOfFirewallNames } from './unresolved.ts';

const setUp = () => {
  const facts = new FactStore();
  const states = new Map<string, DomainState>();
  const rule = (id: string, more: Partial<AdminRuleFact>): void => {
    const base = { network: 'n', family: 4, direction: 'Egress', priority: 1, action: 'deny', subjects: 's' } as const;
    facts.set('adminRule', id, {
      ...{ ...base, tier: 'firewall', policy: 'EgressFirewall/red/default' },
      ...{ peers: { kind: 'domains', sets: ['api', 'web'] }, ...more },
    });
  };
  const name = (id: string, text: string) =>
    facts.set('domainSet', id, { network: 'n', name: text as DomainName, isForFirewalls: true });
  name('api', 'api.example.com.');
  name('web', 'web.example.com.');
  rule('r1', {});
  rule('r2', {});
  rule('r3', { tier: 'admin', policy: 'AdminNetworkPolicy/all' });
  const problems = () => problemsOfFirewallNames(facts, { state: (domain) => states.get(domain) });
  const awaiting = () => [...firewallsAwaitingNames(facts, { state: (domain) => states.get(domain) })];
  return { states, problems, awaiting };
};

it('a firewall is told of its names without an address, once', () => {
  const { states, problems } = setUp();
  states.set('api.example.com.', { kind: 'failed', addresses: [], problem: 'SERVFAIL' });
  states.set('web.example.com.', { kind: 'resolved', addresses: [] });
  expect(problems()).toEqual([
    {
      object: 'EgressFirewall/red/default',
      cause: 'names-unresolved',
      message:
        'no address is known for api.example.com, web.example.com: rules with these names apply to nothing until they are resolved',
    },
  ]);
});

it('not of names that still have addresses, or have no answer yet', () => {
  const { states, problems } = setUp();
  states.set('api.example.com.', { kind: 'failed', addresses: ['198.51.100.1' as never], problem: 'SERVFAIL' });
  states.set('web.example.com.', { kind: 'unresolved', addresses: [] });
  expect(problems()).toEqual([]);
});

it('a firewall waits for the first answer about a name, and not after a failure', () => {
  const { states, awaiting } = setUp();
  states.set('web.example.com.', { kind: 'resolved', addresses: [] });
  states.set('api.example.com.', { kind: 'unresolved', addresses: [] });
  expect(awaiting()).toEqual(['EgressFirewall/red/default']);
  states.set('api.example.com.', { kind: 'failed', addresses: [], problem: 'SERVFAIL' });
  expect(awaiting()).toEqual([]);
});
