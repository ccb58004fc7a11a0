import { expect, it } from 'vitest';
import { EXCLUSIONS, exclusionOf, isChosen, SUITES } from './suites.ts';

const SPECS = {
  basic: '[sig-network] Services should serve a basic endpoint from pods [Conformance]',
  local: '[sig-network] Services should respect internalTrafficPolicy=Local Pod to Pod',
  dns: '[sig-network] DNS should support configurable pod DNS nameservers [Conformance]',
  node: '[sig-node] Pods should get a host IP [NodeConformance] [Conformance]',
};

const suitesOf = (spec: string): string[] =>
  SUITES.filter(({ focus }) => new RegExp(focus).test(spec)).map(({ name }) => name);

it.each([
  [SPECS.basic, ['default', 'layer3', 'layer2']],
  [SPECS.local, ['default', 'layer3']],
  [SPECS.dns, ['default']],
  [SPECS.node, []],
])('%s: %j', (spec, suites) => expect(suitesOf(spec)).toEqual(suites));

it.each([
  ['[sig-network] Netpol NetworkPolicy between server and client should deny egress', 'NetworkPolicies'],
  ['[sig-network] LoadBalancers [Feature:LoadBalancer] should handle cleanup [Slow]', 'load balancer'],
  ['[sig-network] Networking should provide Internet connection for containers [Feature:Networking-IPv4]', 'Internet'],
  ['[sig-network] Networking should check kube-proxy urls', 'kube-proxy'],
  ['[sig-network] DNS configMap nameserver Change stubDomain should be able to change [Slow] [Serial]', 'DNS server'],
])('%s is excluded', (spec, reason) => expect(exclusionOf(spec)?.reason).toContain(reason));

it('most are not excluded', () => {
  expect(exclusionOf('[sig-network] DNS should provide DNS for services [Conformance]')).toBeUndefined();
  for (const spec of Object.values(SPECS)) expect(exclusionOf(spec)).toBeUndefined();
  expect(exclusionOf('[sig-network] Services should be able to create a functioning NodePort service')).toBeUndefined();
});

it('patterns mean the same to Go: no look-around, no back-references', () => {
  for (const { pattern } of EXCLUSIONS) expect(pattern).not.toMatch(/\(\?[=!<]|\\\d/);
});

it('a suite chooses what its focus names and nothing excludes', () => {
  const [suite] = SUITES;
  if (suite === undefined) throw new Error('there are no suites');
  expect([SPECS.basic, SPECS.node].map((spec) => isChosen(suite, spec))).toEqual([true, false]);
  expect(isChosen(suite, '[sig-network] Netpol NetworkPolicy should deny')).toBe(false);
});

it('tenants need VRFs, and pods of the default network nothing', () => {
  expect(SUITES.map(({ cluster }) => cluster.needs.includes('vrf'))).toEqual([false, true, true]);
});
