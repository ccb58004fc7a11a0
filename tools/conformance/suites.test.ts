import { expect, it } from 'vitest';
import { exclusionOf, isChosen, onAnyKernel, SUITE_NAMES, SUITES, type SuiteName } from './suites.ts';

const SPECS = {
  basic: '[sig-network] Services should serve a basic endpoint from pods [Conformance]',
  local: '[sig-network] Services should respect internalTrafficPolicy=Local Pod to Pod',
  dns: '[sig-network] DNS should support configurable pod DNS nameservers [Conformance]',
  node: '[sig-node] Pods should get a host IP [NodeConformance] [Conformance]',
};

const POLICIES = {
  tcp: '[sig-network] Netpol NetworkPolicy between server and client should support allow-all policy [Feature:NetworkPolicy]',
  udp: '[sig-network] Netpol [LinuxOnly] NetworkPolicy between server and client using UDP should enforce policy based on Ports',
  sctp: '[sig-network] Netpol [Feature:SCTPConnectivity] [LinuxOnly] NetworkPolicy between server and client using SCTP should',
  api: '[sig-network] Netpol API should support creating NetworkPolicy API operations',
};

const suiteOf = (name: SuiteName) => SUITES.find((suite) => suite.name === name) ?? expect.fail(`no suite ${name}`);
const DEFAULT = suiteOf('default');
const KUBERNETES = SUITES.filter(({ program }) => program.kind === 'kubernetes');
const chosenBy = (spec: string): string[] =>
  KUBERNETES.filter((suite) => isChosen(suite, spec)).map(({ name }) => name);

it.each([
  [SPECS.basic, ['default', 'layer3', 'layer2']],
  [SPECS.local, ['default', 'layer3']],
  [SPECS.dns, ['default']],
  [SPECS.node, []],
  [POLICIES.tcp, ['policies', 'policies-layer3', 'policies-layer2']],
  [POLICIES.udp, ['policies', 'policies-layer3', 'policies-layer2']],
  [POLICIES.api, ['policies']],
  [POLICIES.sctp, []],
])('%s: %j', (spec, suites) => expect(chosenBy(spec)).toEqual(suites));

it.each([
  [POLICIES.tcp, 'suites of their own'],
  [POLICIES.sctp, 'SCTP'],
  ['[sig-network] LoadBalancers [Feature:LoadBalancer] should handle cleanup [Slow]', 'load balancer'],
  ['[sig-network] Networking should provide Internet connection for containers [Feature:Networking-IPv4]', 'Internet'],
  ['[sig-network] Networking should check kube-proxy urls', 'kube-proxy'],
  ['[sig-network] DNS configMap nameserver Change stubDomain should be able to change [Slow] [Serial]', 'DNS server'],
])('%s is excluded', (spec, reason) => expect(exclusionOf(DEFAULT, spec)?.reason).toContain(reason));

it('most are not excluded', () => {
  expect(exclusionOf(DEFAULT, '[sig-network] DNS should provide DNS for services [Conformance]')).toBeUndefined();
  for (const spec of Object.values(SPECS)) expect(exclusionOf(DEFAULT, spec)).toBeUndefined();
  expect(
    exclusionOf(DEFAULT, '[sig-network] Services should be able to create a functioning NodePort service'),
  ).toBeUndefined();
});

it('patterns mean the same to Go: no look-around, no back-references', () => {
  const patterns = SUITES.flatMap(({ focus, exclusions }) => [focus, ...exclusions.map(({ pattern }) => pattern)]);
  for (const pattern of patterns) expect(pattern).not.toMatch(/\(\?[=!<]|\\\d/);
});

it('specs that find Services by name in tenants need VRFs, and no others do', () => {
  const needing = SUITES.filter(({ cluster }) => cluster.needs.includes('vrf'));
  expect(needing.map(({ name }) => name)).toEqual(['layer3', 'layer2']);
});

it('on any kernel they are named by a server outside of the cluster, on a cluster of their own; others are as they were', () => {
  for (const suite of SUITES) {
    const { cluster } = onAnyKernel(suite);
    expect(cluster.needs).toEqual([]);
    if (suite.cluster.needs.length === 0) expect(cluster).toBe(suite.cluster);
    else expect(cluster).toMatchObject({ name: `${suite.cluster.name}-here`, names: 'outside' });
  }
});

it('on a cluster that suites share, those without a network run before namespaces become tenants', () => {
  for (const suites of Map.groupBy(SUITES, ({ cluster }) => cluster.name).values()) {
    const tenants = suites.map(({ network }) => network !== undefined);
    expect(tenants).toEqual([...tenants].sort());
  }
});

it('namespaces share a network where specs of policies connect their pods', () => {
  expect(SUITES.map(({ name, network }) => [name, network?.per])).toEqual([
    ['default', undefined],
    ['layer3', 'namespace'],
    ['layer2', 'namespace'],
    ['policies', undefined],
    ['admin-policies', undefined],
    ['cluster-policies', undefined],
    ['cyclonus', undefined],
    ['policies-layer3', 'suite'],
    ['policies-layer2', 'suite'],
    ['cyclonus-layer3', 'suite'],
    ['cyclonus-layer2', 'suite'],
  ]);
});

it('suites are in the order of their names, and play what these name', () => {
  expect(SUITES.map(({ name }) => name)).toEqual([...SUITE_NAMES]);
  for (const { name, program } of SUITES) {
    if (program.kind !== 'kubernetes') expect(name.startsWith(program.kind)).toBe(true);
  }
});
