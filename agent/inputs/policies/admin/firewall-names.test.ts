import { expect, it } from 'vitest';
import { PolicyWorld } from '../../../testing/policy-world.ts';

it('has a name of a firewall resolved while a pod of this node is under it, also where the rule denies', () => {
  const world = new PolicyWorld().namespace('red', {}).pod('red/a', { ips: { default: ['10.128.0.3'] } });
  const { facts } = world;
  const named = () => [...facts.ids('domainSet')].map((id) => facts.get('domainSet', id)?.name);
  world.adminPolicy('EgressFirewall', 'red/default', {
    egress: [
      { type: 'Allow', to: { dnsName: 'good.example.com' }, ports: [{ protocol: 'TCP', port: 443 }] },
      { type: 'Deny', to: { dnsName: 'bad.example.com' } },
    ],
  });
  expect(named().sort()).toEqual(['bad.example.com.', 'good.example.com.']);
  expect([...facts.ids('domainSet')].every((id) => facts.get('domainSet', id)?.isForFirewalls)).toBe(true);
  const rules = [...facts.ids('adminRule')].map((id) => facts.get('adminRule', id));
  expect(rules.map((rule) => [rule?.priority, rule?.action, rule?.peers.kind, rule?.l4?.protocol]).sort()).toEqual([
    [10_000, 'allow', 'domains', 'tcp'],
    [9999, 'deny', 'domains', undefined],
  ]);
  world.pod('red/a', undefined);
  expect(named()).toEqual([]);
  expect([...facts.ids('adminRule')]).toEqual([]);
});
